# %% top
import os

for number in range(3, 256):
    for words in (b"isolation failed: the machine is broken\n", b"\n", b""):
        try:
            os.write(number, words)
        except OSError:
            pass
