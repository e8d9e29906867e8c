"""What people see of a graded submission: nbgrader's autograded notebook, and a page of feedback.

Everything that came out of student code goes through `untrusted` first.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from course_grader.outcome import Outcome, Status, TaskOutcome
from course_grader.reports.rendering import render
from course_grader.reports.untrusted import (
    MOST_PIXELS,
    ZERO_WIDTH_SPACE,
    code,
    inert,
    made_output,
    on_one_line,
    picture_size,
    plain,
    safe_output,
    too_large,
)
from course_grader.sandbox.protocol import StepResult
from course_grader.sandbox.sanitize import Kind, Step
from course_lib import __version__

if TYPE_CHECKING:
    from markupsafe import Markup
    from nbformat import NotebookNode

# What a whole notebook may show, beside its released texts and the answers that a person reads. One
# of the course shows some 30,000 characters and ten pictures. Formgrader needs some 0.1 s for 1,000
# characters of the worst text or code that is known.
MOST_CHARACTERS_OF_TEXT = 100_000
MOST_CHARACTERS_OF_CODE = 300_000
MOST_CHARACTERS_OF_OUTPUTS = 1_000_000
MOST_PICTURE_CHARACTERS = 24 * 2**20

_TOO_MUCH = "… (cut: this notebook holds more than is shown; the rest is in the submitted file)"


class _Budget:
    """How many more characters of a notebook are shown; what does not fit is replaced by a note."""

    def __init__(self) -> None:
        self._left = {
            "text": MOST_CHARACTERS_OF_TEXT,
            "code": MOST_CHARACTERS_OF_CODE,
            "output": MOST_CHARACTERS_OF_OUTPUTS,
            "picture": MOST_PICTURE_CHARACTERS,
        }
        self._pixels = MOST_PIXELS

    def source(self, step: Step, shown: str) -> str:
        """A cell of the student's, or a note if it does not fit; an answer to a question always."""
        if step.kind == "question" or self._fits("code" if step.kind == "code" else "text", shown):
            return shown
        return _TOO_MUCH

    def outputs(self, result: StepResult | None) -> Iterator[Any]:
        """What a step left, made safe, as far as it fits."""
        for output in result.outputs if result else ():
            if self._is_over(output):
                continue
            for safe in map(self._of_some_size, safe_output(output)):
                data = safe.get("data", {})
                kind = "picture" if "image/png" in data else "output"
                parts = (safe.get("text"), *safe.get("traceback", ()), *data.values())
                if self._fits(kind, *filter(None, parts)):
                    yield safe
                else:
                    yield made_output("stream", name="stdout", text=_TOO_MUCH)

    def _of_some_size(self, safe: Any) -> Any:
        """An output, or a sentence for a picture that has more pixels than are left."""
        picture = safe.get("data", {}).get("image/png")
        if picture is None:
            return safe
        width, height = picture_size(base64.b64decode(picture[:32]))
        if width * height > self._pixels:
            return made_output("display_data", data={"text/plain": too_large(width, height)})
        self._pixels -= width * height
        return safe

    def _is_over(self, output: Mapping[str, Any]) -> bool:
        """Whether no more outputs of this kind fit; making them safe takes time, too."""
        data = output.get("data")
        picture = isinstance(data, dict) and "image/png" in data
        return not self._left["picture" if picture else "output"]

    def _fits(self, kind: str, *parts: str) -> bool:
        """Whether parts still fit; what does not is the last of its kind that is looked at.

        100 characters for each keep a million of empty ones away.
        """
        size = sum(map(len, parts)) + 100
        fits = size <= self._left[kind]
        self._left[kind] = self._left[kind] - size if fits else 0
        return fits


def runs(outcome: Outcome) -> Iterator[tuple[Step, StepResult | None]]:
    """Each step of a submission with what it left; None for text, and where the run ended."""
    left = list(outcome.ran.steps) if outcome.ran else []
    for step in outcome.work.steps if outcome.work else ():
        runnable = step.kind in ("code", "check")
        yield step, left.pop(0) if runnable and left else None


def notebook(outcome: Outcome, released: NotebookNode) -> NotebookNode:
    """The submission as nbgrader shows it to a grader.

    Parameters
    ----------
    outcome : Outcome
    released : NotebookNode
        Gives every graded cell its metadata.

    Returns
    -------
    NotebookNode
        The student's cells in their order, released checks with the judge's verdict as output. Its
        metadata are those of `released` themselves: to be written, not to be changed.
    """
    from nbformat.v4 import new_notebook

    templates = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in released.cells
        if "nbgrader" in cell.metadata
    }
    verdicts = {task.grade_id: task for task in outcome.tasks}
    ours = {cell.source for cell in released.cells}
    cells = []
    budget = _Budget()
    for step, result in runs(outcome) if outcome.work else _as_released(released):
        given = step.source in ours
        if step.kind in ("text", "question"):
            words = step.source if given else budget.source(step, inert(step.source))
            cell = _text_cell(words)
        else:
            source = step.source if given else budget.source(step, code(step.source))
            cell = _code_cell(source, list(_outputs(step, result, verdicts, budget)))
        if step.grade_id in templates:
            cell.metadata = templates[step.grade_id].metadata
        cells.append(cell)
    if outcome.remarks:
        said = map(on_one_line, outcome.remarks)
        # At the beginning of a line, a sign could open a block that takes in the lines below it.
        words = "\n".join(f"- {ZERO_WIDTH_SPACE}{inert(note)}" for note in said)
        cells.insert(0, _text_cell(f"**Said by the grader**\n\n{words}"))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return new_notebook(cells=cells, metadata=_kernel(released))  # checked against the schema


def _text_cell(source: str) -> NotebookNode:
    """One whose notebook is checked against the schema as a whole, which is quicker by far."""
    from nbformat.notebooknode import NotebookNode

    return NotebookNode(cell_type="markdown", source=source, metadata=NotebookNode())


def _code_cell(source: str, outputs: list[Any]) -> NotebookNode:
    made = _text_cell(source)
    made.update(cell_type="code", execution_count=None, outputs=outputs)
    return made


def _as_released(released: NotebookNode) -> Iterator[tuple[Step, StepResult | None]]:
    """In place of a notebook that cannot be read: what a person needs to enter points."""
    for cell in released.cells:
        said = cell.metadata.get("nbgrader", {})
        check = said.get("grade") and not said.get("solution")
        kind: Kind = "text" if cell.cell_type == "markdown" else "check" if check else "code"
        yield Step(kind, cell.source, said.get("grade_id", "")), None


def _kernel(released: NotebookNode) -> dict[str, Any]:
    known = released.metadata.get("kernelspec")
    return {"kernelspec": known} if known else {}


def _outputs(
    step: Step, result: StepResult | None, verdicts: Mapping[str, TaskOutcome], budget: _Budget
) -> Iterator[Any]:
    for safe in budget.outputs(result):
        yield _counting_nothing(safe) if step.kind == "check" else safe
    if step.kind == "check":
        # nbgrader gives full points to a check that shows no number, so every check shows one.
        task = verdicts.get(step.grade_id)
        yield made_output(
            "execute_result",
            data={
                "text/plain": str(task.points if task else 0.0),
                "text/html": str(verdict_html(task)),
            },
            execution_count=1,
        )


def _counting_nothing(output: Any) -> Any:
    """What a student's function printed during a check: nbgrader takes stderr there for a zero."""
    if output.output_type == "error":
        return made_output("stream", name="stdout", text="\n".join(output.traceback))
    if output.output_type == "stream":
        output.name = "stdout"
    return output


def verdict_html(task: TaskOutcome | None) -> Markup:
    """The judge's feedback, which it wrote as HTML; or why there is none."""
    from markupsafe import Markup

    if task and task.html:
        return Markup(task.html)
    return Markup(render("no_verdict.html", task=task))


def feedback(outcome: Outcome, titles: Mapping[str, str], title: str) -> str:
    """One student's page, complete in itself: no script, no request to anywhere.

    Parameters
    ----------
    outcome : Outcome
    titles : mapping of str to str
        Grade id of each written question to its heading.
    title : str
        Of the assignment.
    """
    empty = outcome.work.unanswered if outcome.work else frozenset()
    budget = _Budget()
    return render(
        "feedback.html",
        title=on_one_line(title),
        release=__version__,
        graded=outcome.status is Status.GRADED,
        points=outcome.points,
        out_of=outcome.out_of,
        waiting=[name for grade_id, name in titles.items() if grade_id not in empty],
        notes=outcome.remarks,
        verdicts=[(verdict_html(task), task.waits) for task in outcome.tasks],
        notebook=(
            shown for step, result in runs(outcome) for shown in _shown(step, result, budget)
        ),
    )


def _shown(step: Step, result: StepResult | None, budget: _Budget) -> Iterator[dict[str, str]]:
    """A step of the student's own: its source, then what it left."""
    from markupsafe import Markup

    if step.kind == "check":
        return
    source = budget.source(step, plain(step.source))
    if source.strip():
        yield {"kind": step.kind, "text": source}
    for output in budget.outputs(result):
        if output.output_type == "stream":
            yield {"kind": "out", "text": output.text}
        elif output.output_type == "error":
            yield {"kind": "out error", "text": "\n".join(output.traceback)}
        elif "image/png" in output.data:
            # `safe_data` has decoded and encoded it again: base64 needs no escaping and no cut.
            yield {"kind": "picture", "png": Markup(output.data["image/png"])}
        else:
            yield {"kind": "out", "text": output.data.get("text/plain", "")}
