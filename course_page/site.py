"""What a site holds for Python in its pages: which files, and what its scripts know of them."""

from __future__ import annotations

import base64
import functools
import json
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

from course_lib import __version__
from course_page import archive, editor, runtime

FOLDER = "_static/page"
"""Where they are in a site."""

PYTHON = "python"
"""The folder in `FOLDER` with what Pyodide is told to load."""

_EDITOR = "editor.js"
LOCK = "pyodide-lock.json"
_SCRIPTS = ("pyodide.asm.js", "pyodide.js")


@functools.cache
def _archive() -> bytes:
    return archive.build()


def archive_name() -> str:
    """What the archive of the course is called: another one for another content."""
    return f"course-{archive.version()[:12]}.zip"


def about(parts: Collection[str]) -> dict[str, Any]:
    """What the scripts of a page know of the files beside them.

    Parameters
    ----------
    parts : collection of str
        What the site has, as `write` takes it.

    Returns
    -------
    dict
        "version" of the course, "worker" and "editor" (scripts in `FOLDER`), and "python": the
        files of `PYTHON` that are run, those that are fetched, with their bytes, and the archive.
    """
    sizes = {part.name: part.size for part in runtime.PARTS}
    sizes |= {LOCK: len(runtime.lock()), archive_name(): len(_archive())}
    listed = [{"name": name, "size": size} for name, size in sizes.items()]
    return {
        "version": __version__,
        "worker": "worker.js",
        "editor": _EDITOR if "editor" in parts else None,
        "python": {
            "scripts": sorted(
                (one for one in listed if one["name"] in _SCRIPTS),
                key=lambda one: _SCRIPTS.index(one["name"]),
            ),
            "fetched": [one for one in listed if one["name"] not in _SCRIPTS],
            "archive": archive_name(),
            "pictures": [{"name": one.name, "size": one.size} for one in _pictures(parts)],
        },
    }


def write(site: str | Path, parts: Collection[str]) -> None:
    """Put what pages load to run Python, and the editor, into a built site.

    Parameters
    ----------
    site : path
        The folder that holds `index.html`.
    parts : collection of str
        "editor" for CodeMirror in the place of plain fields, "pictures" for matplotlib.

    Raises
    ------
    RuntimeMissingError
        If files of others are neither in the cache nor to be had.
    """
    folder = Path(site) / FOLDER
    python = folder / PYTHON
    python.mkdir(parents=True, exist_ok=True)
    for name, path in runtime.fetch((*runtime.PARTS, *_pictures(parts))).items():
        shutil.copyfile(path, python / name)
    (python / LOCK).write_bytes(runtime.lock())
    (python / archive_name()).write_bytes(_archive())
    for file in sorted(python.iterdir()):
        _hand_over(file, f"{PYTHON}/{file.name}.js")
    if "editor" in parts:
        (folder / _EDITOR).write_text(editor.script(_EDITOR), encoding="utf-8")


def _pictures(parts: Collection[str]) -> tuple[runtime.Part, ...]:
    return runtime.PICTURES if "pictures" in parts else ()


def _hand_over(file: Path, name: str) -> None:
    """Write a script with a file's bytes beside it: over ``file://`` nothing else can be read."""
    text = base64.b64encode(file.read_bytes()).decode("ascii")
    script = f"coursePageFiles({json.dumps(name)}, {json.dumps(text)});\n"
    file.with_name(f"{file.name}.js").write_text(script, encoding="utf-8")
