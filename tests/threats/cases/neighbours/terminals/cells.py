# %% top
import os


def terminals():
    if not [name for name in os.listdir("/dev/pts") if name.isdigit()]:
        raise PermissionError


try_all(
    {
        "new": lambda: os.openpty(),
        "multiplexer": lambda: open("/dev/ptmx", "r+b", buffering=0),
        "own": lambda: open("/dev/tty"),
        "others": terminals,
    }
)
