# %% top
import time

time.sleep(1.0)

# %% bottom
time.sleep(1.0)
