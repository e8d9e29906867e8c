# %% top
import os


def opened(path):
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW))


places = {}
for top in ("/proc/sys", "/sys"):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            places[path] = lambda path=path: opened(path)
for path in ("/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/mtrr"):
    places[path] = lambda path=path: opened(path)
shown = {}
for path, trick in places.items():
    try:
        trick()
    except OSError:
        continue
    shown[path] = lambda: None
try_all(dict(list(shown.items())[:20]))
