# %% bottom
import threading
import time

threading.Thread(target=lambda: time.sleep(1000)).start()
