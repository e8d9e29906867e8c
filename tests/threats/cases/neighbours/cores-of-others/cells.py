# %% top
import os

every = range(os.cpu_count())
try_all(
    {
        "own": lambda: os.sched_setaffinity(0, every),
        "process 1": lambda: os.sched_setaffinity(1, {0}),
        "parent": lambda: os.sched_setaffinity(os.getppid(), {0}),
    }
)
