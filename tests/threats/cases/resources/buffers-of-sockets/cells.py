# %% top
import os
import socket
import time

report, told = os.pipe()
for _ in range(44):
    if os.fork() == 0:
        pairs, taken = [], 0
        try:
            while True:
                one, other = socket.socketpair()
                one.setblocking(False)
                pairs.append((one, other))
                try:
                    while True:
                        taken += one.send(b"x" * 2**16)
                except BlockingIOError:
                    pass
        except OSError:
            pass
        os.write(told, taken.to_bytes(8, "big"))
        time.sleep(60)
taken = sum(int.from_bytes(os.read(report, 8), "big") for _ in range(44))
if taken > 720 * 2**20:
    print("held " + "beyond the limit")
