# %% top
import os
import signal
import time

# On a busy machine the bomb grows slowly: the cell's time must not be over before it has grown.
signal.signal(signal.SIGINT, signal.SIG_IGN)
for _ in range(8):
    if os.fork() == 0:
        held = b"x" * (120 * 2**20)
        time.sleep(30)
        os._exit(0)
time.sleep(30)
