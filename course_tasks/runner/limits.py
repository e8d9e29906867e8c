"""What a submission may use, each limit with its reason."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from course_lib.errors import ConfigError

MEGABYTE = 2**20


@dataclass(frozen=True)
class Limits:
    """Bounds on one submission's run.

    Attributes
    ----------
    cell_seconds : float
        Wall time of one cell or one check. The longest task of the course, a training, returns
        within twenty seconds on two busy cores.
    total_seconds : float
        Wall time of the whole notebook, so that many slow cells can't replace an endless one.
    memory_megabytes : int
        Of all its processes together, beyond what a started one holds. The largest task of the
        course stays under 600 MB.
    processes : int
        Processes and threads together: numerical libraries start a few threads, a fork bomb
        thousands.
    file_megabytes : int
        The largest file, and what all files in the home and temporary folders together may hold;
        these live in memory. Notebooks of the course write small checkpoints at most.
    files : int
        Files and folders there together: each costs the kernel a kilobyte of memory that nobody is
        charged for, however small it is. Libraries and their caches make some hundreds.
    output_kilobytes : int
        Text that one cell may print; the rest is cut, and the output says so. Nobody would read a
        page with more.
    picture_kilobytes : int
        Pictures that one cell may show together. A picture of the course has some 50 kB, so this is
        room for forty; with more, a page opens slowly.
    answer_megabytes : int
        Everything that one submission sends out. Answers of the course are some 100 kB, pictures a
        few megabytes.
    """

    cell_seconds: float = 60.0
    total_seconds: float = 300.0
    memory_megabytes: int = 2048
    processes: int = 64
    file_megabytes: int = 256
    files: int = 20_000
    output_kilobytes: int = 100
    picture_kilobytes: int = 2048
    answer_megabytes: int = 64

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ConfigError(f"{each.name} = {value!r}: a limit must be a number above 0")

    def as_dict(self) -> dict[str, Any]:
        """The limits by name, for the wire and for a content key."""
        return asdict(self)
