# %% top
import os


def mine(path):
    if os.stat(path).st_uid != os.getuid():
        raise PermissionError(path)


# What the system's own root owns shows as owned by whoever is root outside.
try_all({path: lambda path=path: mine(path) for path in ("/usr", "/usr/bin/env")})
