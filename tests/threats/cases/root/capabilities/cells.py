# %% top
def held(name):
    said = dict(line.split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
    if not int(said[name], 16):
        raise PermissionError(name)


def privileges():
    if "NoNewPrivs:\t1" in open("/proc/self/status").read():
        raise PermissionError


names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
try_all({name: lambda name=name: held(name) for name in names} | {"new": privileges})
