# %% top
import os
import time

for _ in range(30):
    if os.fork() == 0:
        os.setpgid(0, 0)
        try:
            os.nice(10)
        except OSError:
            pass
        while True:
            pass
time.sleep(1)

# %% top
time.sleep(1)
