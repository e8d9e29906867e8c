# %% top
import os
import shutil
import subprocess


def ran(*command):
    try:
        said = subprocess.run(command, capture_output=True, timeout=2, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise OSError("waits") from None
    if said.returncode != 0:
        raise PermissionError(said.stderr)


tricks = {
    "su": ["su", "-c", "true"],
    "unshare": ["unshare", "--user", "--map-root-user", "true"],
    "bwrap": ["bwrap", "--ro-bind", "/", "/", "true"],
    "mount": ["mount", "-t", "tmpfs", "none", "/tmp"],
    "newuidmap": ["newuidmap", str(os.getpid()), "0", "0", "1"],
}
found = {name: command for name, command in tricks.items() if shutil.which(name)}
try_all({name: lambda command=command: ran(*command) for name, command in found.items()})
