# %% top
import fcntl
import os
import time

report, told = os.pipe()
for _ in range(44):
    if os.fork() == 0:
        pipes, taken = [], 0
        try:
            while True:
                end, start = os.pipe()
                pipes.append((end, start))
                try:
                    fcntl.fcntl(start, 1031, 2**20)  # F_SETPIPE_SZ
                except OSError:
                    pass
                os.set_blocking(start, False)
                try:
                    while True:
                        taken += os.write(start, b"x" * 2**16)
                except BlockingIOError:
                    pass
        except OSError:
            pass
        os.write(told, taken.to_bytes(8, "big"))
        time.sleep(60)
taken = sum(int.from_bytes(os.read(report, 8), "big") for _ in range(44))
if taken > 720 * 2**20:
    print("held " + "beyond the limit")
