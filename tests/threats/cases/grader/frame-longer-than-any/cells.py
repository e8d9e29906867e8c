# %% top
from course_tasks.runner import frames

honest = frames.pack


def forged(header, payload=b""):
    import struct

    return struct.pack("!II", 2**32 - 1, 2**32 - 1) + b"x" * 2**20


frames.pack = forged
frames.send = lambda out, header, payload=b"": out.sendall(forged(header, payload))
