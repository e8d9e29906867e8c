"""What a question is, and a paper of them: plain data that every form of *Defend it* is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# So many numbers can be read on half a page.
MOST_NUMBERS = 64
KINDS = ("read", "shape", "change", "same", "stop", "find", "leak", "nan", "scale", "why")


@dataclass(frozen=True)
class Option:
    """One choice.

    Attributes
    ----------
    text : str
        Code in backticks.
    right : bool
    reason : str
        Why it is right, or where it would come from; every reason was run.
    """

    text: str
    right: bool
    reason: str


@dataclass(frozen=True)
class Question:
    """One question about a student's own code.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    topic : str
        What it is about: two questions of one topic have the same answer for the same reason.
    lines : tuple of (int, str)
        The lines that it quotes, with their numbers, as the student wrote them.
    text : str
        Code in backticks.
    options : tuple of Option
        Four, of which one is right; none where a person reads the answer.
    model_answer : str
        Of a question without options.
    """

    kind: str
    topic: str
    lines: tuple[tuple[int, str], ...]
    text: str
    options: tuple[Option, ...] = ()
    model_answer: str = ""

    @property
    def right(self) -> int:
        """Which option is right, counted from 0; −1 where there are none."""
        return next((n for n, one in enumerate(self.options) if one.right), -1)

    @property
    def asks(self) -> tuple[str, str]:
        """What is asked, and the right answer: who knows both from somebody else has no need to
        think, whatever the wrong options are.
        """
        return self.text, self.options[self.right].text if self.options else self.model_answer


@dataclass(frozen=True)
class Given:
    """An input that is printed on the paper.

    Attributes
    ----------
    name : str
        As the student's code calls it.
    shape : tuple of int
        Empty for a single number or a text.
    text : str
        Its numbers.
    """

    name: str
    shape: tuple[int, ...]
    text: str

    @property
    def line(self) -> str:
        """As a paper prints it."""
        numbers = self.text[:1] in "[-∞" or self.text[:1].isdigit() or not self.text[1:2].isalpha()
        return f"{self.name} = {self.text}" if numbers else f"{self.name}: {self.text}"


@dataclass(frozen=True)
class Paper:
    """The questions of one student about one task.

    Attributes
    ----------
    task, title : str
        For example "05/scores" and "Scores".
    student : str
    code : tuple of (int, str)
        The student's own code, line by line.
    given : tuple of Given
        The inputs that the questions speak of.
    questions : tuple of Question
    lacking : str
        Why there are fewer questions than were asked for; empty if there are not. Of all questions
        that can be asked about an answer, why there are not more.
    """

    task: str
    title: str
    student: str
    code: tuple[tuple[int, str], ...]
    given: tuple[Given, ...] = ()
    questions: tuple[Question, ...] = ()
    lacking: str = field(default="")

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Paper:
        """What `to_plain` made, perhaps after a way through JSON."""
        questions = tuple(
            Question(
                one["kind"],
                one["topic"],
                _numbered(one["lines"]),
                one["text"],
                tuple(Option(**option) for option in one["options"]),
                one["model_answer"],
            )
            for one in plain["questions"]
        )
        given = tuple(
            Given(one["name"], tuple(one["shape"]), one["text"]) for one in plain["given"]
        )
        return cls(
            plain["task"],
            plain["title"],
            plain["student"],
            _numbered(plain["code"]),
            given,
            questions,
            plain["lacking"],
        )


def _numbered(lines: Any) -> tuple[tuple[int, str], ...]:
    return tuple((int(number), str(text)) for number, text in lines)
