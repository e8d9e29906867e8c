"""Whether the line with which a scaffold raises was left above an answer."""

from __future__ import annotations

import ast
import linecache
import traceback

from course_tasks.errors import ScaffoldLineError


def left_above_an_answer(error: BaseException) -> ScaffoldLineError | None:
    """What to say of a `raise NotImplementedError` below which its function goes on; else None.

    Parameters
    ----------
    error : BaseException
        As an answer raised it.
    """
    frames = list(traceback.walk_tb(error.__traceback__))
    if type(error) is not NotImplementedError or not frames:
        return None
    frame, line = frames[-1]
    source = "".join(linecache.getlines(frame.f_code.co_filename))
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        raising = [
            place
            for place, statement in enumerate(function.body)
            if isinstance(statement, ast.Raise)
            and statement.lineno <= line <= (statement.end_lineno or statement.lineno)
        ]
        if raising and raising[0] < len(function.body) - 1:
            return ScaffoldLineError(
                f"The line `raise NotImplementedError` is still in `{function.name}`, and stops it "
                "above your answer.\nDelete that line, run the cell again, then this one. Nothing "
                "below it was run, so nothing is known of your answer yet."
            )
    return None
