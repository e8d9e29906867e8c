"""What a student is told: points, what is right, what went wrong, and where to look again."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

MEDIA_TYPE = "application/vnd.course.verdict+json"
"""The key of the verdict for programs in a cell's output, beside points and feedback."""


@dataclass(frozen=True)
class Section:
    """A place in the book.

    Attributes
    ----------
    chapter : str
        Stem of the chapter's file, for example "01-averages", or of a page of asides.
    heading : str
        The heading, word for word; a test looks for it in the chapter.
    """

    chapter: str
    heading: str

    def __str__(self) -> str:
        number = self.chapter[:2]
        where = f"chapter {number}" if number.isdigit() else "the asides"
        return f"{where}, “{self.heading}”"

    def link(self, book: str | None = None) -> str:
        """Address of the section.

        Parameters
        ----------
        book : str, optional
            Address of the published book. Without it, the chapter's notebook beside the exercise,
            as JupyterLab opens it.
        """
        if book is None:
            return f"../../book/{self.chapter}.ipynb#{self.heading.replace(' ', '-')}"
        fragment = re.sub(r"[^\w\- ]", "", self.heading.lower()).replace(" ", "-")
        return f"{book.rstrip('/')}/book/{self.chapter}.html#{fragment}"


class Tells(Enum):
    """How much a finding tells a student."""

    CAUSE = "cause"
    """What was done: an answer with this mistake was run, and gave the same results."""
    PLACE = "place"
    """What is true of the data: where it is wrong, what it lacks, with which error it stopped."""
    NOTHING = "nothing"
    """Only that something is wrong."""


@dataclass(frozen=True)
class Finding:
    """One thing that was found in an answer.

    Attributes
    ----------
    name : str
        Short and stable, for the class report: the mistake's name, or the property that fails.
    what : str
        The headline: what was done, in one sentence.
    effect : str
        What that does to the data, with numbers of this run.
    section : Section, optional
        Where to look again.
    entry : str
        The entry of the book's field guide on this mistake, if it has one.
    tells : Tells
        How much it tells; what is not said to be more is true of the data.

    Code in `what` and `effect` is between backticks; everything else is plain text.
    """

    name: str
    what: str
    effect: str = ""
    section: Section | None = None
    entry: str = ""
    tells: Tells = Tells.PLACE


@dataclass(frozen=True)
class PartResult:
    """One part of a task, earned or not.

    Attributes
    ----------
    name : str
    points : float
    earned : bool
    because : str
        Why it is not earned, if nothing that it claims is wrong.
    looked_at : bool
        False if nothing tells whether its claim holds: what it is about is missing or stopped, or
        only what is wrong with another part is wrong with it.
    """

    name: str
    points: float
    earned: bool
    because: str = ""
    looked_at: bool = True


class State(Enum):
    """How an answer fared."""

    RIGHT = "right"
    PARTLY = "partly right"
    WRONG = "not right yet"
    NOT_ATTEMPTED = "not attempted"
    INTERRUPTED = "interrupted"


_SIGN = {
    State.RIGHT: "✓",
    State.PARTLY: "◐",
    State.WRONG: "✗",
    State.NOT_ATTEMPTED: "○",
    State.INTERRUPTED: "■",
}
# Mid tones with a contrast of at least 3:1 on white and on near-black. They only repeat what the
# sign and the words say.
_COLOR = {
    State.RIGHT: "#2b9348",
    State.PARTLY: "#b07d10",
    State.WRONG: "#c9413f",
    State.NOT_ATTEMPTED: "#808080",
    State.INTERRUPTED: "#808080",
}


class _RubricLine(NamedTuple):
    """A line of a rubric: ✓ of what is earned, ✗ of what is not, – of what nothing is known."""

    sign: str
    text: str
    points: float


def _named(sign: str, parts: list[PartResult]) -> list[_RubricLine]:
    """A line for each part; those that claim the same of several results share one."""
    alike: dict[tuple[str, str], list[PartResult]] = {}
    names: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        result = "".join(re.findall(r"^`[^`]+`", part.name))
        claim = part.name.removeprefix(result).strip()
        alike.setdefault((claim, part.because), []).append(part)
        names.setdefault((claim, part.because), []).extend([result] if result else [])
    return [
        _RubricLine(
            sign,
            f"{', '.join(names[claim, because])} {claim}".strip()
            + (f": {because}" if because else ""),
            sum(part.points for part in held),
        )
        for (claim, because), held in alike.items()
    ]


def _counted(sign: str, said: str, parts: list[PartResult]) -> list[_RubricLine]:
    """One line for any number of parts; none for none."""
    if not parts:
        return []
    words = said.format(len(parts), "" if len(parts) == 1 else "s")
    return [_RubricLine(sign, words, sum(part.points for part in parts))]


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check.

    In a notebook its `text/plain` is the number of points (which nbgrader reads as partial credit)
    and its `text/html` the feedback; `print(verdict)` gives the feedback as text.

    Attributes
    ----------
    task : str
        For example "01/window".
    title : str
        For example "Sliding window".
    state : State
    parts : tuple of PartResult
    findings : tuple of Finding
    notes : tuple of str
        Shown beside the verdict but never counted; mostly warnings.
    """

    task: str
    title: str
    state: State
    parts: tuple[PartResult, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Points earned."""
        return float(sum(part.points for part in self.parts if part.earned))

    @property
    def out_of(self) -> float:
        """Points that can be earned."""
        return float(sum(part.points for part in self.parts))

    @property
    def headline(self) -> str:
        """One line: state, points, title."""
        if self.state in (State.NOT_ATTEMPTED, State.INTERRUPTED):
            return f"{self.state.value.capitalize()} · {self.title} · 0 of {self.out_of:g} points"
        return f"{self.points:g} of {self.out_of:g} points · {self.title}"

    def __str__(self) -> str:
        lines = [f"{_SIGN[self.state]} {self.headline}"]
        lines += [f"  {line.sign} {line.text} ({line.points:g})" for line in self._rubric()]
        for finding in self.findings:
            lines.append(f"  {finding.what}")
            if finding.effect:
                lines.append(f"  {finding.effect}")
            if finding.section:
                lines.append(f"  See {finding.section}.")
            if finding.entry:
                lines.append(f"  Field guide, entry {finding.entry}.")
        lines += [f"  Note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _rubric(self) -> list[_RubricLine]:
        """What is earned and what is not, if it is some of each. Parts that are not earned are
        named, and the others are counted.
        """
        if self.state is not State.PARTLY:
            return []
        failed = [p for p in self.parts if not p.earned and p.looked_at]
        earned = [p for p in self.parts if p.earned]
        unseen = [p for p in self.parts if not p.earned and not p.looked_at]
        lines = _named("✗", failed)
        lines += _counted("✓", "{} other{}", earned) if failed else _named("✓", earned)
        return lines + _counted("–", "{} not looked at", unseen)

    def to_html(self, book: str | None = None) -> str:
        """The feedback as a fragment of HTML that reads on a light and on a dark page.

        Parameters
        ----------
        book : str, optional
            Address of the published book, for links; see `Section.link`. If it is empty, there are
            no links, because neither a book nor an exercise is at hand.
        """
        color = _COLOR[self.state]
        rows = [
            f'<p style="margin:0 0 .3em">'
            f'<span style="color:{color}" aria-hidden="true">{_SIGN[self.state]}</span> '
            f"<strong>{html.escape(self.headline)}</strong></p>"
        ]
        items = "".join(
            f'<li style="list-style:none"><span aria-hidden="true">{line.sign}</span> '
            f"{_as_html(line.text)} ({line.points:g} {'point' if line.points == 1 else 'points'}"
            f"{', not yet' if line.sign == '✗' else ''})</li>"
            for line in self._rubric()
        )
        if items:
            rows.append(f'<ul style="margin:.2em 0;padding-left:1.2em">{items}</ul>')
        for finding in self.findings:
            text = f"<strong>{_as_html(finding.what)}</strong>"
            if finding.effect:
                text += f"<br>{_as_html(finding.effect)}"
            if finding.section:
                text += f"<br>See {_reference(finding.section, book)}."
            if finding.entry:
                text += f"<br>{_in_the_field_guide(finding.entry, book)}"
            rows.append(f'<p style="margin:.4em 0 0">{text}</p>')
        rows += [
            f'<p style="margin:.4em 0 0;opacity:.85"><em>Note:</em> {html.escape(note)}</p>'
            for note in self.notes
        ]
        return (
            f'<div class="course-verdict" role="status" style="border-left:4px solid {color};'
            'padding:.5em .9em;margin:.3em 0;line-height:1.45;overflow-wrap:anywhere">'
            f"{''.join(rows)}</div>"
        )

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain JSON: what `course check` reads from a cell's output."""
        return {
            "task": self.task,
            "title": self.title,
            "state": self.state.value,
            "points": self.points,
            "out_of": self.out_of,
            "parts": [
                {"name": part.name, "points": float(part.points), "earned": part.earned}
                | ({"because": part.because} if part.because else {})
                | ({} if part.looked_at else {"looked_at": False})
                for part in self.parts
            ],
            "findings": [
                {
                    "name": finding.name,
                    "what": finding.what,
                    "effect": finding.effect,
                    "section": str(finding.section) if finding.section else "",
                }
                | ({"entry": finding.entry} if finding.entry else {})
                for finding in self.findings
            ],
            "notes": list(self.notes),
        }

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Points for nbgrader, feedback for people, and all of it as JSON for `course check`.

        A terminal only shows `text/plain`, so there it is the feedback.
        """
        return {
            "text/plain": str(self) if _in_terminal() else str(self.points),
            "text/html": self.to_html(),
            MEDIA_TYPE: self.to_json(),
        }


def _in_terminal() -> bool:
    """True in IPython's terminal shell, the one front end that shows no HTML."""
    from IPython import get_ipython

    return type(get_ipython()).__name__ == "TerminalInteractiveShell"


def field_guide_address(entry: str, book: str) -> str:
    """The address of an entry of the field guide in a published book."""
    return f"{book.rstrip('/')}/book/field-guide.html#{entry}"


def _in_the_field_guide(entry: str, book: str | None) -> str:
    """A reference; without a published book it has no link, since only its build makes the page."""
    if not book:
        return f"Field guide, entry {html.escape(entry)}."
    address = html.escape(field_guide_address(entry, book), quote=True)
    style = "color:inherit;text-decoration:underline"
    return f'In the field guide: <a href="{address}" style="{style}">{html.escape(entry)}</a>.'


def _reference(section: Section, book: str | None) -> str:
    name = html.escape(str(section))
    if book == "":
        return name
    address = html.escape(section.link(book), quote=True)
    return f'<a href="{address}" style="color:inherit;text-decoration:underline">{name}</a>'


def _as_html(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
