"""A Sphinx extension: pages are read and written by as many processes as may run at once.

Jupyter Book asks Sphinx for one process and has no option for more. The site is the same to the
byte (`tests/publishing/test_site.py`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

MOST = 4
"""More processes than this wait for the one that joins what they read."""

UNDECLARED = ("sphinx_jupyterbook_latex", "sphinx_multitoc_numbering")
"""Extensions of Jupyter Book that do not say whether pages may be read side by side, for which
Sphinx would warn and read them one by one. Neither keeps anything from one page to the next."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.parallel = min(_cores(), MOST)
    app.connect("config-inited", _declare)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _declare(app: Sphinx, _config: Config) -> None:
    for name in UNDECLARED:
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True
