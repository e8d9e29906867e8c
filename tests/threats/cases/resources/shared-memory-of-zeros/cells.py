# %% top
import mmap

piece = b"x" * 2**20
held = []
for _ in range(8):
    with open("/dev/zero", "r+b") as zeros:
        room = mmap.mmap(zeros.fileno(), 100 * 2**20)
    for _ in range(100):
        room.write(piece)
    room.madvise(mmap.MADV_DONTNEED)
    held.append(room)
print("held " + "beyond the limit")
