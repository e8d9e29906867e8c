# %% top
import threading
import time

for _ in range(500):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
