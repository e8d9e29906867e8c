# %% top
import ctypes
import platform

libc = ctypes.CDLL(None, use_errno=True)
add, request, control = (248, 249, 250) if platform.machine() == "x86_64" else (217, 218, 219)


def must(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def keys():
    if open("/proc/keys").read() or open("/proc/key-users").read():
        return
    raise PermissionError


try_all(
    {
        "add": lambda: must(libc.syscall(add, b"user", b"course", b"hello", 5, -4)),
        "request": lambda: must(libc.syscall(request, b"user", b"course", None, 0)),
        "session": lambda: must(libc.syscall(control, 1, None)),
        "list": keys,
    }
)
