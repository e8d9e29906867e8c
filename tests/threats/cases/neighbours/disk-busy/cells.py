# %% top
import os
import time

for place in ("/tmp", "/dev/shm", os.path.expanduser("~")):
    if os.fork() == 0:
        try:
            os.setsid()
        except OSError:
            os.setpgid(0, 0)
        while True:
            with open(f"{place}/busy", "wb", buffering=0) as file:
                file.write(b"x" * 2**20)
                os.fsync(file.fileno())
time.sleep(1)
