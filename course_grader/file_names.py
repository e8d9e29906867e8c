"""What names of files and students say, however a browser or a file system has written them."""

from __future__ import annotations

import re
import unicodedata

# What browsers and mail programs append to a notebook whose kind they do not know.
_NOTEBOOK = re.compile(r"\.ipynb(\.(json|txt|download))?$", re.IGNORECASE)


def is_notebook(name: str) -> bool:
    """Whether a file may be a notebook by its name.

    >>> is_notebook("01-averages.ipynb"), is_notebook("01-averages.ipynb.txt"), is_notebook("a.txt")
    (True, True, False)
    """
    return _NOTEBOOK.search(name) is not None


def notebook_stem(name: str) -> str:
    """A notebook's name without what says that it is one.

    >>> notebook_stem("01-averages.ipynb.json")
    '01-averages'
    """
    return _NOTEBOOK.sub("", name)


def composed(name: str) -> str:
    """A name with each letter and its accents as one character. Some systems, macOS among them,
    store them as several; they look the same and compare as different.
    """
    return unicodedata.normalize("NFC", name)
