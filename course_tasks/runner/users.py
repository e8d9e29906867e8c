"""Inside the sandbox: which user of the machine each run is.

The kernel counts some things for a user: open files on their way between processes, processes,
signals that wait, locks. Where the grader could give the sandbox a range of users, the process that
forks runs is user 0 of a namespace of them, and makes each run the next one. Where it could not,
all runs are the user that this process is, and what is counted for a user is counted by supervisors
(see `in_flight`).

Of itself a run sees the same in both cases: user `STUDENT` of a namespace that has no other one.
"""

from __future__ import annotations

import errno
import itertools
import os

from course_tasks.errors import IsolationError
from course_tasks.runner.isolation import STUDENT, fork_into_namespaces, set_dumpable
from course_tasks.runner.kernel_files import read_from_kernel, write_to_kernel

_READY = b"+"


class RunUsers:
    """The users that one process makes its runs.

    Parameters
    ----------
    place, processes : int
        Which one of how many processes this is that make runs users of the same range: no two of
        them make a run the same user.

    Attributes
    ----------
    own : bool
        Whether each run is another one.
    """

    def __init__(self, place: int, processes: int):
        self._me = os.getuid(), os.getgid()
        rows = read_from_kernel("/proc/self/uid_map").split("\n")
        users = sum(int(row.split()[2]) for row in rows if row.strip())
        self.own = self._me[0] == 0 and users > processes
        # The first one is this process itself. A number comes again when hundreds of runs that
        # followed have been forked, and the run that had it before is long over.
        self._numbers = itertools.cycle(range(1 + place, users, processes) if self.own else [0])

    def fork(self) -> int:
        """Fork a run's first process, in namespaces of its own.

        Returns
        -------
        int
            The child's number; 0 in the child, which calls `become` next.

        Raises
        ------
        OSError
            If the kernel refuses.
        """
        if not self.own:
            return fork_into_namespaces()
        self._wait, tell = os.pipe()
        child = -1
        try:
            child = fork_into_namespaces()
            if child == 0:
                return child
            number = next(self._numbers)
            write_to_kernel(f"/proc/{child}/uid_map", f"{STUDENT} {number} 1")
            write_to_kernel(f"/proc/{child}/gid_map", f"{STUDENT} {number} 1")
            os.write(tell, _READY)
            return child
        finally:  # a child that waits, and was not told that it may go on, hears that instead
            os.close(tell)
            if child != 0:
                os.close(self._wait)

    def become(self) -> None:
        """In the child: be the next user, and no other one, whatever happens afterwards.

        Raises
        ------
        OSError
            If the kernel refuses.
        """
        if not self.own:
            user, group = self._me
            set_dumpable(True)  # only then may a process write its own user map
            write_to_kernel("/proc/self/setgroups", "deny")
            write_to_kernel("/proc/self/uid_map", f"{user} {user} 1")
            write_to_kernel("/proc/self/gid_map", f"{group} {group} 1")
            return
        if os.read(self._wait, 1) != _READY:
            raise IsolationError(errno.EPERM, "the run was given no user of its own")
        os.close(self._wait)
        os.setresgid(STUDENT, STUDENT, STUDENT)
        os.setresuid(STUDENT, STUDENT, STUDENT)
