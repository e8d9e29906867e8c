# %% top
import os

own = {str(os.getpid()), str(os.getppid())}
own |= {line.split()[1] for line in open("/proc/self/status") if line.startswith(("Pid", "NSpid"))}
own.add(os.readlink("/proc/self"))
others = [name for name in os.listdir("/proc") if name.isdigit() and name not in own]
others += ["1", str(os.getppid())]

import itertools

NAMES = "comm coredump_filter clear_refs oom_adj timerslack_ns mem uid_map setgroups attr/current"


def write(number, name):
    os.close(os.open(f"/proc/{number}/{name}", os.O_WRONLY))


pairs = itertools.product(others, NAMES.split())
try_all({f"{n}/{name}": lambda n=n, name=name: write(n, name) for n, name in pairs})
