# %% top
import fcntl
import glob

import torch

held = []
for path in glob.glob(torch.__path__[0] + "/*.py")[:100]:
    file = open(path)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    held.append(file)
