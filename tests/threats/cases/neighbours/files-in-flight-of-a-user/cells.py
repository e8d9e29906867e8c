# %% top
import os
import socket
import time


def fill():
    pairs = []
    while True:
        try:
            pairs.append(socket.socketpair())
            for _ in range(3):
                socket.send_fds(pairs[-1][0], [b"x"], [0] * 100, socket.MSG_DONTWAIT)
        except OSError:
            return pairs


for _ in range(8):
    if os.fork() == 0:
        held = fill()
        time.sleep(60)
time.sleep(1)
