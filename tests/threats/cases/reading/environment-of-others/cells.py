# %% top
import glob

for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try:
        print(open(path, "rb").read())
    except OSError:
        pass
