# %% top
import zlib

from IPython.display import Image, display


def part(kind, data):
    check = zlib.crc32(kind + data).to_bytes(4, "big")
    return len(data).to_bytes(4, "big") + kind + data + check


for side in (20_000, 4_000, 4_000, 1):
    head = side.to_bytes(4, "big") * 2 + bytes((1, 0, 0, 0, 0))
    drawn = zlib.compress(bytes((side // 8 + 2) * min(side, 9)))
    picture = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", drawn) + part(b"IEND", b"")
    display(Image(picture))
