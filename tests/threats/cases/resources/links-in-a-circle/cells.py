# %% top
import os

os.chdir("/tmp")
os.symlink("a", "b")
os.symlink("b", "a")
os.symlink("/", "root")
open("file", "w").close()
for number in range(100):
    os.link("file", f"file{number}")
