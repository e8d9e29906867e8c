# %% top
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
kept = (ctypes.c_uint64 * 2)(1)
rule = (ctypes.c_uint64 * 2)(1)
made = 0
for _ in range(100):
    if libc.syscall(444, ctypes.byref(kept), 8, 0) < 0:
        break
    made += 1
if made == 100:
    print("kept " + "rules in the kernel")
