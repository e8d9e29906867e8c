# %% top
import sys


def hook(event, arguments):
    if event in ("open", "import", "compile", "object.__getattr__"):
        raise RuntimeError("refused")


sys.addaudithook(hook)
