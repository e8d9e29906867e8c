# %% top
import os
import time

for _ in range(56):
    if os.fork() == 0:
        try:
            os.setsid()
        except OSError:
            os.setpgid(0, 0)
        while True:
            pass
time.sleep(1)

# %% top
time.sleep(1)
