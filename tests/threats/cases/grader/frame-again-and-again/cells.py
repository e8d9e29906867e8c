# %% top
from course_tasks.runner import frames

honest = frames.pack


def forged(header, payload=b""):
    return honest(header, payload) * 100


frames.pack = forged
frames.send = lambda out, header, payload=b"": out.sendall(forged(header, payload))
