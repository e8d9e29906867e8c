# %% top
import glob
import os

for path in glob.glob("ROOT/submitted/*/*/*.ipynb") + glob.glob("ROOT/autograded/*/*/*.ipynb"):
    if "STUDENT" not in path:
        open(path, "w").write("{}")
