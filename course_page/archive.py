"""The course as one archive that a page unpacks: what an answer is written with and judged by.

The same sources always give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TORCH = "torch_twin"
"""The package of this one that a page imports as `torch`. Should PyTorch itself come to browsers,
this is the one place that names another.
"""

# The first moment that a zip can name; a real one would change the bytes from build to build.
_MOMENT = (1980, 1, 1, 0, 0, 0)

# What runs inside the grader's sandbox, and chapter 10, which needs JAX.
_NOT_PACKED = ("runner", "ch10_jax")
_OF_JAX = ("jax_model.py", "jax_exchange.py", "flax_model.py")

_DATA = {
    "course_lib": ("*.py", "data/play/*.txt"),
    "course_tasks": ("*.py",),
    "course_judges": ("*.py", "*.toml", "ch*/*.json"),
}
# How a model gets into a figure; figures themselves are the page's.
_OF_FIGURES = ("__init__.py", "errors.py", "foreign.py", "live_weights.py", "sources.py")
_OF_PAGE = (
    *("__init__.py", "errors.py", "session.py", "wide_indices.py", "turns/*.py"),
    *("own_training.py", "stepwise.py"),
)


def files() -> dict[str, Path]:
    """What is packed: the name in the archive, and the file, in the order of names."""
    return dict(sorted(_found()))


def _found() -> Iterator[tuple[str, Path]]:
    for package, patterns in _DATA.items():
        for pattern in patterns:
            for path in (ROOT / package).rglob(pattern):
                place = path.relative_to(ROOT)
                if not set(place.parts) & {*_NOT_PACKED, *_OF_JAX}:
                    yield place.as_posix(), path
    here = Path(__file__).parent
    for pattern in _OF_PAGE:
        for path in here.glob(pattern):
            yield path.relative_to(ROOT).as_posix(), path
    for name in _OF_FIGURES:
        yield f"course_figures/{name}", ROOT / "course_figures" / name
    for path in (here / TORCH).rglob("*.py"):
        yield f"torch/{path.relative_to(here / TORCH).as_posix()}", path
    for path in (here / "stand_ins").rglob("*.py"):
        place = path.relative_to(here / "stand_ins")
        if len(place.parts) > 1:
            yield place.as_posix(), path


@cache
def build() -> bytes:
    """The archive, a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in files().items():
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return buffer.getvalue()


def version() -> str:
    """Sixteen digits that change whenever the archive does."""
    return hashlib.sha256(build()).hexdigest()[:16]
