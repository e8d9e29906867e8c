# %% top
from course_lib.grading.sandbox.inside import frames

honest = frames.pack


def forged(header, payload=b""):
    import time

    time.sleep(0.001)
    return honest(header, payload)


frames.pack = forged
frames.send = lambda out, header, payload=b"": out.sendall(forged(header, payload))
