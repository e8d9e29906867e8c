# %% top
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def must(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


try_all(
    {
        "semaphores": lambda: must(libc.semget(0, 32000, 0o1600)),
        "messages": lambda: must(libc.msgget(0, 0o1600)),
        "memory": lambda: must(libc.shmget(0, ctypes.c_size_t(2**20), 0o1600)),
        "a key": lambda: must(libc.semget(0x5EED, 1, 0o1666)),
    }
)
