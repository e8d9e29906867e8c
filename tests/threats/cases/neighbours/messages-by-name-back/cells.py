# %% top
import socket
import time


def heard():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as door:
        door.connect("\0course-second")
        door.send(b"hello")


door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
door.bind("\0course-first")
time.sleep(0.5)
try_all({"another submission": heard})
