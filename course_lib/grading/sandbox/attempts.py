"""Cells that try to break out, for the self-test of the sandbox.

Each prints `no way` if it found none, and otherwise what it could do. Values that the self-test
gives (a port, a path, a size) are set above each.
"""

NO_WAY = "no way"
WORKS = "works"

HONEST = """
import subprocess, threading, torch
thread = threading.Thread(target=lambda: torch.ones(4, 4) @ torch.ones(4, 4))
thread.start(); thread.join()
open("/tmp/notes.txt", "w").write("written")
done = subprocess.run(["python", "-c", "print(6 * 7)"], capture_output=True, text=True)
print("works" if done.stdout.strip() == "42" else done.stderr)
"""

NETWORK = """
import socket
found = [device for _, device in socket.if_nameindex() if device != "lo"]
for family, address in ((socket.AF_INET, ("127.0.0.1", port)), (socket.AF_UNIX, name)):
    try:
        with socket.socket(family) as door:
            door.settimeout(1)
            door.connect(address)
        found.append(f"connected to {address!r}")
    except OSError:
        pass
print(f"reaches a network: {found}" if found else "no way")
"""

FILES = """
import os
found = []
for path in paths:
    try:
        opened = os.open(path, os.O_RDONLY)
        if os.path.isdir(path) and not os.listdir(opened):
            continue
        found.append(path)
    except OSError:
        pass
    try:
        os.close(os.open(path, os.O_WRONLY))
        found.append(f"{path} (to write)")
    except OSError:
        pass
print(f"opened {found}" if found else "no way")
"""

ENVIRONMENT = """
import os
found = sorted(set(os.environ) - set(known))
print(f"the environment holds {found}" if found else "no way")
"""

JUDGES = """
import importlib, os, course_lib
found = []
for module in ("tasks.judging", "grading.gradebook.record", "grading.judgement", "grading.release"):
    try:
        importlib.import_module(f"course_lib.{module}")
        found.append(module)
    except ImportError:
        pass
for folder, folders, _ in os.walk(os.path.dirname(course_lib.__file__)):
    found += [f"{folder}/judges" for one in folders if one == "judges"]
print(f"holds {found}" if found else "no way")
"""

PLANT = """
import os, subprocess
for line in open("/proc/self/mountinfo"):
    try:
        open(os.path.join(line.split()[4], name), "w").write("planted")
    except OSError:
        pass
subprocess.Popen(["sleep", pause], start_new_session=True)
print("works" if os.path.exists(f"/tmp/{name}") else "the temporary folder cannot be written")
"""

LOOK = """
import os
found = []
for line in open("/proc/self/mountinfo"):
    path = os.path.join(line.split()[4], name)
    if os.path.exists(path):
        found.append(path)
        os.remove(path)
for number in filter(str.isdigit, os.listdir("/proc")):
    try:
        if pause in open(f"/proc/{number}/cmdline").read().split(chr(0)):
            found.append(f"process {number}")
    except OSError:
        pass
print(f"found {found} of the submission before" if found else "no way")
"""

DOORS = """
import ctypes, os
found = []
for number in filter(str.isdigit, os.listdir("/proc")):
    if os.readlink("/proc/self") == number:
        continue
    try:
        open(f"/proc/{number}/mem", "rb").close()
        found.append(f"memory of process {number}")
    except OSError:
        pass
try:
    if alone:  # signal 0 reaches whatever a real one would, and does nothing to it
        os.kill(-1, 0)
        found.append("other processes, by a signal")
except OSError:
    pass
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000) == 0:
    found.append("a user namespace of its own")
if libc.memfd_create(b"x", 0) >= 0:
    found.append("memory that belongs to no process")
print(f"reaches {found}" if found else "no way")
"""

MEMORY = """
try:
    held = bytearray(megabytes * 2**20)
    print(f"took {megabytes} MB")
except MemoryError:
    print("no way")
"""

SHARED_MEMORY = """
import os, time
for _ in range(count):
    if os.fork() == 0:
        held = b"x" * (megabytes * 2**20)
        time.sleep(60)
time.sleep(60)
"""

PROCESSES = """
import os, time
started = 0
try:
    for _ in range(count):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        started += 1
    time.sleep(5)
    print(f"started {started} processes")
except OSError:
    print("no way")
"""

ENDLESS = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
