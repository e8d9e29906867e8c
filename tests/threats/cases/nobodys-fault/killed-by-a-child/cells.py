# %% top
import os
import signal

run = os.getpid()
if os.fork() == 0:
    os.kill(run, signal.SIGKILL)
    os._exit(0)
