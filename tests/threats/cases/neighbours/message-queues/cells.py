# %% top
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def must(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def made():
    must(libc.mq_open(b"/course", os.O_CREAT | os.O_RDWR, 0o666, None))


try_all({"queue": made})
