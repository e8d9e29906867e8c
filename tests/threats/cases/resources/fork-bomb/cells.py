# %% top
import os
import time

for _ in range(8):  # 256 processes: enough to be one, and no more
    try:
        os.fork()
    except OSError:
        pass
time.sleep(30)
