# %% top
import os
import signal
import threading

from course_tasks.runner import cells

honest = cells._ask
asked = []


def killing(*given):
    asked.append(given)
    if len(asked) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return honest(*given)


cells._ask = killing
