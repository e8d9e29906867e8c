"""Where submissions run on this machine: in processes of their own, or in containers."""

from __future__ import annotations

from course_grader.options import ISOLATIONS, CourseGrade
from course_grader.sandbox.containers import Containers
from course_lib.errors import ConfigError
from course_tasks.runner.limits import Limits


def containers_of(
    options: CourseGrade, chosen: str | None, limits: Limits, jobs: int | None
) -> Containers | None:
    """The containers in which submissions run; None where they run in processes.

    Parameters
    ----------
    options : CourseGrade
        The course's settings.
    chosen : str or None
        One of `ISOLATIONS`, or None: what the setting says.
    limits : Limits
    jobs : int or None
        See `Containers`.

    Raises
    ------
    ConfigError
        If it is none of them.
    """
    chosen = chosen or options.isolation
    if chosen not in ISOLATIONS:
        raise ConfigError(f"--isolation {chosen}: there are {' and '.join(ISOLATIONS)}")
    if chosen == ISOLATIONS[0]:
        return None
    return Containers(limits, options.image, jobs, options.container_runtime)
