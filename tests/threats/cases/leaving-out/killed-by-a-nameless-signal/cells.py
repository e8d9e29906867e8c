# %% top
import os

os.kill(os.getpid(), 35)
