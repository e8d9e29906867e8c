# %% top
import os
import resource

AS, CPU, FILES = resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE


def more(which):
    most = resource.getrlimit(which)[1]
    resource.setrlimit(which, (most + 1, most + 1))


try_all(
    {
        "process 1": lambda: resource.prlimit(1, CPU, (1, 1)),
        "files of process 1": lambda: resource.prlimit(1, FILES, (3, 3)),
        "parent": lambda: resource.prlimit(os.getppid(), AS, (1, 1)),
        "own memory": lambda: more(AS),
        "own time": lambda: more(CPU),
        "own files": lambda: more(FILES),
    }
)
