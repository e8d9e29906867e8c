# %% top
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def must(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), "refused")


flags = {"user": 1 << 28, "mount": 1 << 17, "process": 1 << 29, "net": 1 << 30, "ipc": 1 << 27}
tricks = {name: lambda flag=flag: must(libc.unshare(flag)) for name, flag in flags.items()}
tricks["mount a folder"] = lambda: must(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))
tricks["unmount"] = lambda: must(libc.umount2(b"/proc", 2))
tricks["trace"] = lambda: must(libc.ptrace(16, 1, 0, 0))
tricks["enter"] = lambda: must(libc.setns(os.open("/proc/1/ns/mnt", os.O_RDONLY), 0))
try_all(tricks)
