"""The texts that make a figure live: the shared part, each figure's module, and the stylesheet."""

from __future__ import annotations

import base64
from pathlib import Path
from types import MappingProxyType

from course_figures.errors import FigureError

FOLDER = Path(__file__).parent
RUNTIME = FOLDER / "runtime"

SHARED = "shared"
"""Name of the part that stands before every module's own text."""

PARTS = MappingProxyType(
    {
        "attention_map": ("head_picker",),
        "live_model": ("engine", "sampling_rules", "head_picker"),
        "sampling": ("sampling_rules",),
    }
)
"""What some figures have in common: texts of `runtime/` that stand before a module's own."""

LIVE_WEIGHTS = FOLDER / "live_model.safetensors"
"""Weights of the live model; they travel in its module, so that no page has to fetch them."""


def names() -> list[str]:
    """Names of all figures' modules, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.js"))


def text(name: str) -> str:
    """The text of one figure's module, with its `PARTS`, without the shared part.

    Parameters
    ----------
    name : str
        The module's name ("averaging"), or `SHARED`.

    Returns
    -------
    str
        JavaScript.

    Raises
    ------
    FigureError
        If no `.js` of that name lies beside this file.
    """
    path = (RUNTIME if name == SHARED else FOLDER) / f"{name}.js"
    if not path.exists():
        raise FigureError(
            f"no figure's module is called {name!r}: there are {', '.join(names()) or 'none'}; "
            f"write {path.name} beside its Python class"
        )
    pieces = [RUNTIME / f"{part}.js" for part in PARTS.get(name, ())]
    texts = [piece.read_text(encoding="utf-8") for piece in (*pieces, path)]
    if name == "live_model":
        weights = base64.b64encode(LIVE_WEIGHTS.read_bytes()).decode("ascii")
        texts.insert(0, f'const LIVE_WEIGHTS = "{weights}";\n')
    return "".join(texts)


def module(name: str) -> str:
    """One self-contained ES module: the shared part, then the figure's own text."""
    return f"{text(SHARED)}\n{text(name)}"


def stylesheet() -> str:
    """The one stylesheet of all figures."""
    return (RUNTIME / "figures.css").read_text(encoding="utf-8")
