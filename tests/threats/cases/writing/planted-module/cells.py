# %% top
import os
import sys

for folder in [os.getcwd(), "/tmp", "ROOT", *sys.path]:
    try:
        open(os.path.join(folder, "PLANTED"), "w").write("was here")
        if folder in (os.getcwd(), "/tmp"):
            open(os.path.join(folder, "antigravity.py"), "w").write("raise SystemExit")
    except OSError:
        pass
