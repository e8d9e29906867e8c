"""What else the machine does while something is measured, as Linux counts it."""

import os
from pathlib import Path


def busy_seconds() -> float | None:
    """Processor seconds that the whole machine has spent since it started; None if unknown."""
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _, _, interrupts, soft, *_ = map(int, fields)
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def others_share(began: float | None, own: float, wall: float) -> float | None:
    """The share of all cores that other programs took since `busy_seconds()` was `began`."""
    now = busy_seconds()
    if began is None or now is None:
        return None
    return max(0.0, now - began - own) / (wall * (os.cpu_count() or 1))
