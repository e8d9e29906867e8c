"""Runs notebooks and keeps them normal, so that a diff shows what changed.

`python -m course_grader.notebooks ACTION PATH...` is the contributor's command:

    run        run top to bottom in a fresh kernel, store the outputs, normalize
    normalize  normalize what is stored
    check      change nothing; exit 1 where a notebook is not normal

A PATH is a notebook, or a folder whose notebooks are all meant.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from course_grader.errors import CellFailedError, UnreadableNotebookError
from course_grader.notebook_form import (
    KERNEL,
    as_text,
    machine_paths,
    normal,
    normalize,
    read_notebook,
)
from course_lib.errors import CourseError

CELL_TIMEOUT_SECONDS = 600
"""A chapter runs in a minute: a cell that takes ten of them hangs."""


def run(path: str | Path, timeout: int = CELL_TIMEOUT_SECONDS) -> None:
    """Run a notebook top to bottom in a fresh kernel in its own folder; store outputs, normalized.

    Parameters
    ----------
    path : path
        A notebook of nbformat 4. It is written only if every cell ran.
    timeout : int
        Seconds that one cell may take.

    Raises
    ------
    UnreadableNotebookError
        If the file is missing, not JSON, or not a notebook of nbformat 4.
    CellFailedError
        If a cell raised (and is not tagged `raises-exception`), took longer than `timeout`, or
        took its kernel down: names the cell and the error.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    path = Path(path)
    _, raw = read_notebook(path)
    for cell in raw["cells"]:
        if cell.get("cell_type") == "code":
            cell["outputs"], cell["execution_count"] = [], None
    notebook = nbformat.from_dict(normal(raw))
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(path.parent.resolve())}},
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=40"],  # no warning about a local, keyed socket
    )
    try:
        client.execute()
    except CellTimeoutError as error:
        raise CellFailedError(
            f"{path}: {_running(notebook)} took more than {timeout} s. "
            "Make it shorter, or allow more with --timeout."
        ) from error
    except DeadKernelError as error:
        raise CellFailedError(
            f"{path}: the kernel died in {_running(notebook)}; is memory short?"
        ) from error
    except CellExecutionError as error:
        raise CellFailedError(
            f"{path}: {_running(notebook)} raised {error.ename}: {error.evalue}\n{error}"
        ) from error
    path.write_text(as_text(normal(notebook)), encoding="utf-8", newline="\n")


def notebooks_in(paths: Iterable[str | Path]) -> Iterator[Path]:
    """The notebooks that paths mean: a file is itself, a folder all below it (checkpoints apart).

    Raises
    ------
    UnreadableNotebookError
        If a path does not exist.
    """
    for path in map(Path, paths):
        if path.is_dir():
            yield from sorted(
                p for p in path.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts
            )
        elif path.exists():
            yield path
        else:
            raise UnreadableNotebookError(
                f"{path} does not exist: give a notebook or a folder of notebooks"
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """The contributor's command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m course_grader.notebooks",
        description="Run notebooks and keep them normal, so that a diff shows what changed.",
    )
    parser.add_argument(
        "action",
        choices=("run", "normalize", "check"),
        help="run and store outputs; normalize what is stored; or only check",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a notebook, or a folder of them")
    parser.add_argument(
        "--timeout",
        type=int,
        default=CELL_TIMEOUT_SECONDS,
        help="seconds one cell may take (run only)",
    )
    options = parser.parse_args(arguments)
    try:
        faults = [
            _act(options.action, path, options.timeout) for path in notebooks_in(options.paths)
        ]
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    return 1 if any(faults) else 0


def _act(action: str, path: Path, timeout: int) -> bool:
    """Do what the command says to one notebook; whether something is left to mend by hand."""
    if action == "run":
        start = time.perf_counter()
        run(path, timeout)
        print(f"{path}: ran in {time.perf_counter() - start:.1f} s")
    else:
        changed = normalize(path, check=action == "check")
        word = "not normal" if action == "check" else "normalized"
        print(f"{path}: {word if changed else 'normal'}")
        if changed and action == "check":
            print(f"    to fix it: python -m course_grader.notebooks normalize {path}")
            return True
    left = machine_paths(path)
    for place in left:
        print(f"{path}, {place} is a path of this machine", file=sys.stderr)
    return bool(left)


def _running(notebook: Any) -> str:
    """The first cell that has not finished, named so that a person finds it."""
    code = [
        (number, cell)
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "code"
    ]
    started = [
        (number, cell) for number, cell in code if cell.execution_count is not None or cell.outputs
    ]
    number, cell = (started or code)[-1]
    first_line = next((line for line in cell.source.splitlines() if line.strip()), "")
    return f"cell {number} (id {cell.id}, `{first_line}`)"


if __name__ == "__main__":
    sys.exit(main())
