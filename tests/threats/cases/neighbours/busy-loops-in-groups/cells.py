# %% top
import os
import time

for _ in range(30):
    if os.fork() == 0:
        os.setpgid(0, 0), os.nice(10)
        while True:
            pass
time.sleep(1)

# %% top
time.sleep(1)
