"""Cells that try to break out, for the self-test of the sandbox.

Several of them run one after the other in one run, so none leaves anything behind that another one
would trip over. Each prints `no way` if it found none, and otherwise what it could do. Values that
the self-test gives (a port, a path, a size) are set above each.
"""

NO_WAY = "no way"
WORKS = "works"

HONEST = """
import multiprocessing, subprocess, threading, torch
thread = threading.Thread(target=lambda: torch.ones(4, 4) @ torch.ones(4, 4))
thread.start(); thread.join()
open("/tmp/notes.txt", "w").write("written")
with multiprocessing.Lock():
    pass
done = subprocess.run(["python", "-c", "print(6 * 7)"], capture_output=True, text=True)
print("works" if done.stdout.strip() == "42" else done.stderr)
"""

NETWORK = """
import socket
found = []
try:
    found += [device for _, device in socket.if_nameindex() if device != "lo"]
except OSError:
    pass
for family in range(1, 46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
            if family != socket.AF_UNIX:
                found.append(f"sockets of family {family}")
                break
        except OSError:
            pass
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
    except PermissionError:
        found.append(f"{path} (to see)")
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

PACKAGES = """
import pkgutil
names = {one.name for one in pkgutil.iter_modules()}
found = sorted(name for name in names - set(inside) if name.startswith("course_"))
print(f"holds {found}" if found else "no way")
"""

PLANT = """
import os, subprocess
for line in open("/proc/self/mountinfo"):
    try:
        open(os.path.join(line.split()[4], name), "w").write("planted")
    except OSError:
        pass
subprocess.Popen(["sleep", pause], process_group=0)
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
print(f"found {found} of the submission before" if found else "no way")
"""

# Sleeps until somebody outside has seen who it is, and ended it.
SEEN = """
import subprocess
print("no way" if subprocess.run(["sleep", pause]).returncode < 0 else "nobody outside saw it")
"""

DOORS = """
import ctypes, os
found = []
for number in filter(str.isdigit, os.listdir("/proc")):
    if number not in ("1", str(os.getpid())):
        found.append(f"process {number}, by its name")
    elif number == "1":
        try:
            open(f"/proc/{number}/mem", "rb").close()
            found.append(f"memory of process {number}")
        except OSError:
            pass
for number in (-1, 1):
    try:  # signal 0 reaches whatever a real one would, and does nothing to it
        os.kill(number, 0)
        found.append("other processes, by a signal")
    except OSError:
        pass
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000) == 0:
    found.append("a user namespace of its own")
machine = os.uname().machine
for call in {"x86_64": (248, 249, 250)}.get(machine, (217, 218, 219)):
    nothing = libc.syscall(call, 0, 0, 0, 0, 0)
    if nothing != -1 or ctypes.get_errno() not in (1, 38):
        found.append("keyrings")
print(f"reaches {found}" if found else "no way")
"""

KERNEL = """
import os
found = []
for one in os.scandir("/proc"):
    if one.is_dir(follow_symlinks=False) and not one.name.isdigit():
        found += [f"{one.path}/{name}" for name in os.listdir(one.path)]
for path in (
    *(f"/proc/sys/kernel/{name}" for name in ("core_pattern", "modprobe", "sched_rt_runtime_us")),
    *("/proc/sysrq-trigger", "/proc/1/oom_score_adj", "/proc/1/autogroup", "/proc/self/autogroup"),
    *("/proc/self/oom_score_adj", "/proc/self/coredump_filter"),
):
    try:
        os.close(os.open(path, os.O_WRONLY))
        found.append(f"{path} (to write)")
    except OSError:
        pass
for name in ("keys", "key-users", "timer_list", "kallsyms", "kcore", "locks", "slabinfo"):
    try:
        if open(f"/proc/{name}", "rb").read(1):
            found.append(f"/proc/{name}")
    except OSError:
        pass
print(f"opened {found[:5]}" if found else "no way")
"""

DEVICES = """
import os
known = {"fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom"}
found = sorted(set(os.listdir("/dev")) - known)
try:
    os.openpty()
    found.append("a terminal")
except OSError:
    pass
print(f"holds {found}" if found else "no way")
"""

PRIORITIES = """
import os, resource
def session():
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os._exit(0)
        except OSError:
            os._exit(1)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError
changes = {
    "limits of process 1": lambda: resource.prlimit(1, resource.RLIMIT_NOFILE),
    "its cores": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    "its scheduling": lambda: os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)),
    "its priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, 19),
    "its session": session,
}
found = []
for what, change in changes.items():
    try:
        change()
        found.append(what)
    except OSError:
        pass
print(f"changes {found}" if found else "no way")
"""

UNCOUNTED = """
import ctypes, fcntl, mmap, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def shared():
    held = mmap.mmap(-1, 2**20)
    held[0] = 1
    held.madvise(mmap.MADV_DONTNEED)
def zeros():
    number = os.open("/dev/zero", os.O_RDWR)
    mmap.mmap(number, 2**20)
def buffers():
    one, other = socket.socketpair()
    with one, other:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**22)
def pipes():
    ends = os.pipe()
    try:
        fcntl.fcntl(ends[1], 1031, 2**20)
    finally:
        for end in ends:
            os.close(end)
def refused(call, *given):
    def ask():
        if call(*given) < 0:
            raise OSError
    return ask
takes = {
    "shared memory without a file": shared,
    "/dev/zero": zeros,
    "buffers of sockets": buffers,
    "buffers of pipes": pipes,
    "files in memory": refused(libc.memfd_create, b"x", 0),
    "semaphores of System V": refused(libc.semget, 0, 1, 0o1600),
    "shared memory of System V": refused(libc.shmget, 0, 4096, 0o1600),
    "messages of System V": refused(libc.msgget, 0, 0o1600),
}
found = []
for what, take in takes.items():
    try:
        take()
        found.append(what)
    except OSError:
        pass
print(f"takes {found}" if found else "no way")
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
