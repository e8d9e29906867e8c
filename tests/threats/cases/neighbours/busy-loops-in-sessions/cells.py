# %% top
import os
import time

for _ in range(56):
    if os.fork() == 0:
        os.setsid()
        while True:
            pass
time.sleep(2)

# %% top
time.sleep(2)
