# %% top
import mmap

held = []
try:
    while True:
        held.append(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        held[-1][0] = 1
except (OSError, MemoryError, ValueError):
    pass
if len(held) > 180_000:
    print("held " + "beyond the limit")
