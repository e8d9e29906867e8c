"""Inside the sandbox: open files that are on their way between processes.

The kernel counts them for a user of the machine, and refuses to send another one where there are
more than a process may have open. Where submissions share a user (see `users`), one of them can so
keep others from sending any, as PyTorch's loaders of data do between their workers. The kernel does
not say whose they are, but it says, to whoever sends one, whether there are more than a limit.
"""

from __future__ import annotations

import errno
import resource
import socket

# Honest processes send one at a time, and receive it at once. A submission's processes are refused
# only at twice as many (`isolation.MOST_OPEN_FILES`).
MOST_IN_FLIGHT = 128

# So often somebody looks: a look takes some 20 µs.
SECONDS_BETWEEN_LOOKS = 0.02

IN_FLIGHT = f"more than {MOST_IN_FLIGHT} open files were on their way between processes at once"
"""Why a run ended, in words."""


def crowded(most: int = MOST_IN_FLIGHT) -> bool:
    """Whether more files than that are on their way, of all that this user runs on the machine."""
    _, hard = limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    one, other = socket.socketpair()
    with one, other:
        try:
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (bound, hard))
            # It arrives nowhere: what is in a socket that is closed is closed, too.
            socket.send_fds(one, [b"x"], [other.fileno()], socket.MSG_DONTWAIT)
        except OSError as error:
            if error.errno == errno.ETOOMANYREFS:
                return True
            raise
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    return False
