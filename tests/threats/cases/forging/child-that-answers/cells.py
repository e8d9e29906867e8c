# %% top
import os

child = os.fork()
if child:
    os.waitpid(child, 0)
    os._exit(0)
