# %% top
import os

os.chdir("/tmp")
for _ in range(1000):
    os.mkdir("d" * 255)
    os.chdir("d" * 255)
