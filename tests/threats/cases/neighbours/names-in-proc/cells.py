# %% top
import os


def seen(number):
    """Whether a process is neither this one, nor what watches over it, nor a child of theirs."""
    chain, this = [], number
    while this != "0":
        chain.append(this)
        this = open(f"/proc/{this}/stat").read().rpartition(")")[2].split()[1]
    mine = os.readlink("/proc/self")
    watcher = open(f"/proc/{mine}/stat").read().rpartition(")")[2].split()[1]
    if watcher in chain:
        raise PermissionError(number)


try_all({n: lambda n=n: seen(n) for n in os.listdir("/proc") if n.isdigit()})
