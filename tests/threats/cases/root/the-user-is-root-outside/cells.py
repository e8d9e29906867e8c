# %% top
import os


def mine(path):
    if os.stat(path).st_uid != os.getuid():
        raise PermissionError(path)


# What the system's own root owns shows as owned by whoever is root outside. The C library is the
# system's wherever Python is; a folder such as /usr may have been made for this run alone.
with open("/proc/self/maps") as maps:
    system = next(line.split()[-1] for line in maps if "/libc.so" in line or "/libc-" in line)
try_all({path: lambda path=path: mine(path) for path in (system,)})
