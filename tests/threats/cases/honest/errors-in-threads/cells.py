# %% top
import os
import threading
import warnings


def fails():
    raise ValueError("in a thread")


thread = threading.Thread(target=fails)
thread.start()
thread.join()
os.write(2, b"from underneath\n")
os.write(1, b"from underneath\n")
warnings.warn("old", DeprecationWarning)
