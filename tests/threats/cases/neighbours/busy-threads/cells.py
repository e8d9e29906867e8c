# %% top
import hashlib
import threading
import time

data = b"x" * 2**24


def busy():
    while True:
        hashlib.sha256(data).digest()


for _ in range(40):
    threading.Thread(target=busy, daemon=True).start()
time.sleep(1)
