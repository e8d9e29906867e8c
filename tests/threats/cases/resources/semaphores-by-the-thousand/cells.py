# %% top
import ctypes

libc = ctypes.CDLL(None)
sets = 0
while sets < 500 and libc.semget(0, 32000, 0o600) >= 0:  # 2 MB each
    sets += 1
if sets > 350:
    print("held " + "beyond the limit")
