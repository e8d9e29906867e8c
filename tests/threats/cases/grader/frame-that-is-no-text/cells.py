# %% top
from course_tasks.runner import frames

honest = frames.pack


def forged(header, payload=b""):
    import struct

    return struct.pack("!II", 4, len(payload)) + b"\xff\xfe\x00\xd8" + payload


frames.pack = forged
frames.send = lambda out, header, payload=b"": out.sendall(forged(header, payload))
