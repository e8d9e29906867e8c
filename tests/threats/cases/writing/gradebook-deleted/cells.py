# %% top
import os

os.remove("ROOT/gradebook.db")
