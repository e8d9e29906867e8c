# %% top
import fcntl
import os

with open("locked", "w+") as file:
    for number in range(100_000):
        fcntl.lockf(file, fcntl.LOCK_SH, 1, 2 * number)
    child = os.fork()
    if child == 0:
        with open("locked", "r+") as same:
            try:
                fcntl.lockf(same, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                print("kept " + "locks in the kernel")
                os._exit(3)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print("kept " + "locks in the kernel")
