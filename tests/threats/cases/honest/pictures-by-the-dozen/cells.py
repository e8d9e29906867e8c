# %% top
import os
import zlib

from IPython.display import Image, display


def part(kind, data):
    check = zlib.crc32(kind + data).to_bytes(4, "big")
    return len(data).to_bytes(4, "big") + kind + data + check


def show():
    head = (1000).to_bytes(4, "big") * 2 + bytes((8, 2, 0, 0, 0))
    parts = part(b"IHDR", head) + part(b"IDAT", os.urandom(1_900_000)) + part(b"IEND", b"")
    display(Image(b"\x89PNG\r\n\x1a\n" + parts))



# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()

# %% top
show()
