# %% top
import time

time.sleep(0.6)

# %% bottom
time.sleep(0.6)
