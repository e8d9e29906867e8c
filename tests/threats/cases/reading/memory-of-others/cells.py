# %% top
import os

for number in filter(str.isdigit, os.listdir("/proc")):
    if number in (os.readlink("/proc/self"), "self"):
        continue
    try:
        for line in open(f"/proc/{number}/maps"):
            if "[heap]" in line:
                start = int(line.split("-")[0], 16)
                with open(f"/proc/{number}/mem", "rb") as memory:
                    memory.seek(start)
                    print("read the memory of", number, len(memory.read(64)))
    except OSError:
        pass
