# %% top
from course_tasks.runner import frames

honest = frames.pack


def forged(header, payload=b""):
    odd = [None, 1, {"a": []}, ["x"] * 3, True, 1e308]
    kinds = ["stream", "error", "display_data", "execute_result", "banana", 7, None, []]
    header["outputs"] = [
        {"output_type": kind, "text": one, "data": one, "traceback": one, "ename": one, "name": one}
        for kind in kinds
        for one in odd
    ]
    return honest(header, payload)


frames.pack = forged
frames.send = lambda out, header, payload=b"": out.sendall(forged(header, payload))
