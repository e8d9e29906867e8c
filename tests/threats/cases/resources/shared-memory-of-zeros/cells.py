# %% top
import mmap

held = []
for _ in range(8):
    with open("/dev/zero", "r+b") as zeros:
        room = mmap.mmap(zeros.fileno(), 100 * 2**20)
    for start in range(0, len(room), 4096):
        room[start] = 1
    room.madvise(mmap.MADV_DONTNEED)
    held.append(room)
print("held " + "beyond the limit")
