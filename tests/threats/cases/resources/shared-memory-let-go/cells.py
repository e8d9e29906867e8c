# %% top
import mmap
import os
import time

report, told = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        piece, held = b"x" * 2**20, []
        try:
            for _ in range(3):
                room = mmap.mmap(-1, 100 * 2**20)
                for _ in range(100):
                    room.write(piece)
                room.madvise(mmap.MADV_DONTNEED)  # the pages stay, and nobody seems to hold them
                held.append(room)
        except OSError:
            pass
        os.write(told, len(held).to_bytes(1, "big"))
        time.sleep(60)
taken = sum(os.read(report, 1)[0] for _ in range(3))
time.sleep(0.5)
if taken * 100 > 720:
    print("held " + "beyond the limit")
