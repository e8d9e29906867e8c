# %% top
import os

held = []
try:
    while True:
        held.append(os.dup(0))
except OSError:
    pass
