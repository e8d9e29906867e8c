# %% top
import os
import signal
import time

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(4):
    if os.fork() == 0:
        while True:
            if os.fork() == 0:
                end = time.process_time() + 0.02
                while time.process_time() < end:
                    pass
                os._exit(0)
            time.sleep(0.05)
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
