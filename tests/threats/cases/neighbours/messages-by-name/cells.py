# %% top
import socket


def heard():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as door:
        door.connect("\0course-first")
        door.send(b"hello")


door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
try_all({"another submission": heard})
door.bind("\0course-second")
