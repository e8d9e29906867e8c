"""Question banks that learning platforms import: Moodle's XML, and GIFT.

Each student is a category of their own, so that a quiz takes its questions from there; or a random
pool is made of all of them, each question with the code that it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from course_grader.reports import rendering
from course_grader.reports.untrusted import plain
from course_judges.defending.contract import Paper, Question

# What GIFT reads as its own.
_SIGNS = re.compile(r"([~=#{}:\\])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def gift(papers: Sequence[Paper], title: str) -> str:
    """Papers as GIFT.

    Parameters
    ----------
    papers : sequence of Paper
    title : str
        Of the category that holds one for each student.
    """
    parts: list[str] = []
    for paper in papers:
        parts.append(f"$CATEGORY: {_category(title)}/{_category(paper.student)}")
        for number, question in enumerate(paper.questions, start=1):
            name = _escaped(f"{paper.student} {number} {question.kind}")
            text = f"::{name}::[html]{_escaped(_asked(paper, question))}"
            parts.append(f"{text} {{\n{_answers(question)}\n}}")
    return "\n\n".join(parts) + "\n"


def _answers(question: Question) -> str:
    if not question.options:
        return f"####{_escaped(_html(question.model_answer))}"
    return "\n".join(
        f"{'=' if one.right else '~'}{_escaped(_html(one.text))}#{_escaped(_html(one.reason))}"
        for one in question.options
    )


def _escaped(html: str) -> str:
    """HTML in which nothing is GIFT's own; a blank line would end a question."""
    return _SIGNS.sub(r"\\\1", html.replace("\r", "").replace("\n", "<br>"))


def _category(name: str) -> str:
    """A name in the path of a category, which slashes divide."""
    return " ".join(plain(name).replace("/", "//").split())


def moodle(papers: Sequence[Paper], title: str) -> str:
    """Papers as Moodle's XML; the parameters are those of `gift`."""
    quiz = ElementTree.Element("quiz")
    for paper in papers:
        category = ElementTree.SubElement(quiz, "question", type="category")
        _text(category, "category", f"$course$/{_category(title)}/{_category(paper.student)}")
        for number, question in enumerate(paper.questions, start=1):
            kind = "multichoice" if question.options else "essay"
            one = ElementTree.SubElement(quiz, "question", type=kind)
            _text(one, "name", f"{paper.student} {number} {question.kind}")
            _html_text(one, "questiontext", _asked(paper, question))
            ElementTree.SubElement(one, "defaultgrade").text = "1"
            if not question.options:
                ElementTree.SubElement(one, "responseformat").text = "editor"
                _html_text(one, "graderinfo", _html(question.model_answer))
                continue
            ElementTree.SubElement(one, "single").text = "true"
            ElementTree.SubElement(one, "shuffleanswers").text = "true"
            ElementTree.SubElement(one, "answernumbering").text = "abc"
            for option in question.options:
                share = "100" if option.right else "0"
                answer = ElementTree.SubElement(one, "answer", fraction=share, format="html")
                ElementTree.SubElement(answer, "text").text = _clean(_html(option.text))
                _html_text(answer, "feedback", _html(option.reason))
    ElementTree.indent(quiz)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(
        quiz, encoding="unicode"
    )


def _text(parent: ElementTree.Element, name: str, text: str) -> None:
    one = ElementTree.SubElement(parent, name)
    ElementTree.SubElement(one, "text").text = _clean(text)


def _html_text(parent: ElementTree.Element, name: str, html: str) -> None:
    one = ElementTree.SubElement(parent, name, format="html")
    ElementTree.SubElement(one, "text").text = _clean(html)


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.encode("utf-8", "replace").decode())


def _asked(paper: Paper, question: Question) -> str:
    """A question with all that it is about, as HTML."""
    return "".join(_parts(paper, question))


def _parts(paper: Paper, question: Question) -> Iterator[str]:
    from markupsafe import escape

    code = "\n".join(f"{number:3}  {text}" for number, text in paper.code)
    yield f"<p>Your code for “{escape(plain(paper.title))}”:</p><pre>{escape(plain(code))}</pre>"
    if paper.given:
        given = "\n".join(one.line for one in paper.given)
        yield f"<p>The input:</p><pre>{escape(plain(given))}</pre>"
    yield f"<p>{_html(question.text)}</p>"


def _html(words: str) -> str:
    return str(rendering.sentence(words))
