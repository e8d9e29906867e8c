# %% top
import socket

one, other = socket.socketpair()
names = {"send": socket.SO_SNDBUF, "receive": socket.SO_RCVBUF, "force": 32, "receive force": 33}


def set(option):
    one.setsockopt(socket.SOL_SOCKET, option, 2**30)


try_all({name: lambda option=option: set(option) for name, option in names.items()})
