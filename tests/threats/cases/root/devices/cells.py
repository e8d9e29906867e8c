# %% top
import os
import stat

harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}


def opened(path):
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))


places = {}
for folder, _, names in os.walk("/dev"):
    for name in names:
        path = os.path.join(folder, name)
        kind = os.lstat(path).st_mode
        if name not in harmless and (stat.S_ISBLK(kind) or stat.S_ISCHR(kind)):
            places[path] = lambda path=path: opened(path)
for path in ("/dev/kmsg", "/dev/mem", "/proc/kcore", "/proc/kmsg"):
    places[path] = lambda path=path: opened(path)
try_all(places)
