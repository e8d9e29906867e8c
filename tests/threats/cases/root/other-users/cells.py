# %% top
import os


def own():
    own = "/tmp/own"
    open(own, "w").close()
    os.chown(own, 0, 0)


try_all(
    {
        "setuid": lambda: os.setuid(0),
        "setresuid": lambda: os.setresuid(0, 0, 0),
        "setgid": lambda: os.setgid(0),
        "setgroups": lambda: os.setgroups([0]),
        "chown": own,
        "chroot": lambda: os.chroot("/tmp"),
        "mknod": lambda: os.mknod("/tmp/disk", 0o600 | 0o060000, os.makedev(8, 0)),
        "sethostname": lambda: __import__("socket").sethostname("mine"),
        "clock": lambda: __import__("time").clock_settime(0, 1e9),
    }
)
