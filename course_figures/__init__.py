"""Interactive figures: in the page without a kernel, and live in JupyterLab with your own tensors.

Each figure is a Python class beside one JavaScript module. The class holds the state as traits,
says what is shown in words (`alt`) and draws it once for paper (`still`); the module, which
JupyterLab and the static page both mount, draws it live.

    from course_figures import Averaging
    fig = Averaging(values=x[0, :, 0], matrix=weights)
    fig  # the last expression of a cell
    fig.matrix  # what it holds after you have edited it

Importing this package imports no figure; a class is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from types import MappingProxyType
from typing import Any

MODULES = MappingProxyType(
    {
        "Averaging": "averaging",
        "SoftmaxAndScale": "softmax_and_scale",
        "Windows": "windows",
        "BigramTable": "bigram_table",
        "AttentionMap": "attention_map",
        "HeadShapes": "head_shapes",
        "ResidualStream": "residual_stream",
        "Sampling": "sampling",
        "LiveModel": "live_model",
        "TrainingRun": "training_run",
        "FollowLetter": "follow_letter",
        "LookingInside": "looking_inside",
    }
)
"""Class to module, for each figure; the `.py` and the `.js` of a figure share the module's name."""


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *MODULES])
