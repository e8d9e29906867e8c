# %% top
place = "/proc/sys/kernel/core_pattern"
try_all({place: lambda: open(place, "r+b").close()})  # nothing is written
