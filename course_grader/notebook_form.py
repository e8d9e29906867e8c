"""The one form in which notebooks are stored: the same run gives the same file.

Times, kernel and editor metadata, and paths of the machine that ran it go; tags, nbgrader's and
MyST-NB's metadata, glued values and cell ids stay.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_grader.errors import UnreadableNotebookError

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
"""The one kernel that every notebook of the course names."""

KEPT_CELL_METADATA = (
    "attachments",
    "course",
    "deletable",
    "editable",
    "format",
    "mystnb",
    "nbgrader",
    "tags",
)
"""What a cell says about itself on purpose; everything else is a trace of an editor or of a run."""

# A widget's model id is drawn anew at every run, and means nothing without the kernel that drew it.
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

_ROOT = str(Path(__file__).resolve().parents[1])
_CELL_FILE = re.compile(r"(?:/private)?(?:/var/folders|/tmp)/[^\s'\"]*?ipykernel_\d+/\d+\.py")
_INSTALLED = re.compile(r"(?:[A-Za-z]:|~)?[/\\][^\s'\":;,<>]*?[/\\](?:site|dist)-packages[/\\]")
_STANDARD_LIBRARY = re.compile(r"(?:~)?/[^\s'\":;,<>]*?/lib/(python3\.\d+)/")
_PATHS = (
    ("ipykernel_", _CELL_FILE, "<cell>"),
    ("-packages", _INSTALLED, ""),
    ("/lib/python3.", _STANDARD_LIBRARY, r"\1/"),
)
_ANYWHERE_HOME = re.compile(
    r"(?<![\w.])(?:/home/[\w.-]+|/Users/[\w.-]+|/root|/tmp|/private/(?:var|tmp))/[\w./-]*"
    r"|\b[A-Za-z]:\\Users\\"
)


def normalize(path: str | Path, check: bool = False) -> bool:
    """Bring one notebook into the form in which the course stores notebooks.

    Times, kernel and editor metadata, and paths of this machine go. Tags, nbgrader's and MyST-NB's
    metadata, glued values and cell ids stay; a missing or repeated id becomes one that follows from
    the cell's text. Code cells that ran are numbered 1…n, consecutive outputs of one stream become
    one, and the JSON is written as nbformat writes it.

    Parameters
    ----------
    path : path
        A notebook of nbformat 4.
    check : bool
        Only look: leave the file as it is.

    Returns
    -------
    bool
        Whether the file was not normal (and, without `check`, is now rewritten).

    Raises
    ------
    UnreadableNotebookError
        If the file is missing, not JSON, or not a notebook of nbformat 4.
    """
    path = Path(path)
    before, notebook = read_notebook(path)
    after = as_text(normal(notebook))
    if after == before:
        return False
    if not check:
        path.write_text(after, encoding="utf-8", newline="\n")
    return True


def normal(notebook: dict[str, Any]) -> dict[str, Any]:
    """The normal form of a notebook's JSON; the argument stays as it is. See `normalize`."""
    cells = [_cell(copy.deepcopy(dict(cell))) for cell in notebook["cells"]]
    taken: set[str] = set()
    for cell in cells:
        if not cell.get("id") or cell["id"] in taken:
            cell["id"] = _new_id(cell, taken)
        taken.add(cell["id"])
    ran = (
        cell
        for cell in cells
        if cell["cell_type"] == "code" and cell["execution_count"] is not None
    )
    for number, cell in enumerate(ran, start=1):
        cell["execution_count"] = number
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
    return {
        "cells": cells,
        "metadata": {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def machine_paths(path: str | Path) -> list[str]:
    """Paths of somebody's machine that a notebook still shows, in sources or outputs.

    Parameters
    ----------
    path : path
        A notebook of nbformat 4.

    Returns
    -------
    list of str
        Each as "cell 7: " and the path, in order; empty when there is none.
    """
    _, notebook = read_notebook(Path(path))
    found = []
    for number, cell in enumerate(notebook["cells"], start=1):
        for text in [_text(cell.get("source", "")), *_output_texts(cell)]:
            found += [f"cell {number}: {match.group()}" for match in _ANYWHERE_HOME.finditer(text)]
            found += [
                f"cell {number}: {here}" for here in {_ROOT, str(Path.home())} if here + "/" in text
            ]
    return found


def read_notebook(path: Path) -> tuple[str, dict[str, Any]]:
    """Text and JSON of a notebook.

    Raises
    ------
    UnreadableNotebookError
        If the file is missing, not JSON, or not a notebook of nbformat 4.
    """
    try:
        text = path.read_bytes().decode("utf-8")
        notebook = json.loads(text)
    except FileNotFoundError as error:
        raise UnreadableNotebookError(
            f"{path} does not exist: give a notebook or a folder of notebooks"
        ) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UnreadableNotebookError(
            f"{path} is not a notebook: its JSON breaks off ({error})"
        ) from error
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4 or "cells" not in notebook:
        version = notebook.get("nbformat") if isinstance(notebook, dict) else None
        raise UnreadableNotebookError(
            f"{path} has nbformat {version}, the course stores nbformat 4: "
            f"convert it with `jupyter nbconvert --to notebook --nbformat 4 --inplace {path}`"
        )
    return text, notebook


def as_text(notebook: dict[str, Any]) -> str:
    """A notebook's JSON as nbformat writes it, with one line break at its end."""
    import nbformat

    text: str = nbformat.writes(nbformat.from_dict(notebook), version=nbformat.NO_CONVERT)
    return text.rstrip("\n") + "\n"


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    metadata = {
        key: value for key, value in cell.get("metadata", {}).items() if key in KEPT_CELL_METADATA
    }
    if not metadata.get("tags", True):
        del metadata["tags"]
    cell["metadata"] = metadata
    cell["source"] = _text(cell.get("source", ""))
    if cell["cell_type"] == "code":
        cell["execution_count"] = cell.get("execution_count")
        cell["outputs"] = _merged([_output(output) for output in cell.get("outputs", [])])
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    return cell


def _output(output: dict[str, Any]) -> dict[str, Any]:
    output = dict(output)
    if output["output_type"] == "stream":
        output["text"] = _without_paths(_text(output["text"]))
    elif output["output_type"] == "error":
        output["evalue"] = _without_paths(output.get("evalue", ""))
        output["traceback"] = [_without_paths(line) for line in output.get("traceback", [])]
    else:
        output["data"] = {
            kind: _without_paths(_text(value)) if kind.startswith("text/") else value
            for kind, value in output.get("data", {}).items()
            if kind != _WIDGET_VIEW
        }
        # `scrapbook` is where MyST-NB's glue keeps the name of a value; under the name of a kind
        # stands the size of a picture.
        output["metadata"] = {
            key: value
            for key, value in output.get("metadata", {}).items()
            if key == "scrapbook" or key in output["data"]
        }
        output.pop("transient", None)
    return output


def _merged(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Consecutive pieces of one stream as one: a kernel cuts them elsewhere in each run."""
    merged: list[dict[str, Any]] = []
    for output in outputs:
        last = merged[-1] if merged else None
        if (
            last
            and output["output_type"] == last["output_type"] == "stream"
            and output["name"] == last["name"]
        ):
            last["text"] += output["text"]
        else:
            merged.append(output)
    return merged


def _without_paths(text: str) -> str:
    """What was printed, without the folders of the machine that printed it."""
    # Each pattern is tried from every slash of a text. In a long one without a space, as stored
    # weights are, that takes seconds: a text that lacks what a pattern ends with is not searched.
    for end, pattern, instead in _PATHS:
        if end in text:
            text = pattern.sub(instead, text)
    text = text.replace(_ROOT + "/", "")
    home = str(Path.home())
    if _ROOT.startswith(home + "/"):  # IPython shortens what lies in the home folder
        text = text.replace("~" + _ROOT[len(home) :] + "/", "")
    return text


def _new_id(cell: dict[str, Any], taken: set[str]) -> str:
    for copy_number in range(len(taken) + 1):
        text = f"{cell['cell_type']}\n{copy_number}\n{cell['source']}"
        candidate = hashlib.sha256(text.encode()).hexdigest()[:8]
        if candidate not in taken:
            return candidate
    raise AssertionError("more ids are taken than there are cells")


def _text(value: Any) -> Any:
    return "".join(value) if isinstance(value, list) else value


def _output_texts(cell: dict[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", []):
        yield _text(output.get("text", ""))
        yield "\n".join([output.get("evalue", ""), *output.get("traceback", [])])
        for kind, value in output.get("data", {}).items():
            if kind.startswith("text/"):
                yield _text(value)
