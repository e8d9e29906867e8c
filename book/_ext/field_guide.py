"""A Sphinx extension: the field guide's entries become Markdown when its page is read.

An entry stands in one of the files of `book/field_guide/`, whose name is the part of a model that
the entry is about. Tests run each entry's code; a page is made from its text alone, so building the
book needs no torch. Keys of an entry:

name
    Its anchor on the page, which verdicts link to. It never changes.
title
    The mistake in a few words.
words
    What people call it who don't know our words for it: other names, names in code, what it looks
    like. The page's search reads them, and lists them below the entry.
chapter
    The file of a chapter or of asides without its suffix, and a heading in it, word for word.
wrong, right
    The line as it should not and as it should be.
program
    What the line stands in, with `<line>` in its place.
test
    The quickest test: it fails after the wrong line and passes after the right one.
test_raises
    The error in which it fails, where that is no failed assertion.
effect
    What the wrong line does to the data. Numbers with a decimal point come from the program.
numbers
    Expressions that give those numbers, as a text: the wrong line's value must stand in `effect`.
symptoms
    For each symptom that a reader would search by, an expression that is true after the wrong line
    and false after the right one. The entry stands under the first.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = "book/field-guide"
"""The page that holds the entries, as Sphinx names it."""

PLACE = "% The build puts the entries here."
"""The line of that page which the entries replace: a comment where nobody replaces it."""

FOLDER = Path(__file__).resolve().parents[1] / "field_guide"
"""Where the entries are; `page/` in it holds what the page loads."""

LINE = "<line>"

_IMPORTS = {
    "copy": "import copy",
    "math": "import math",
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "from torch.nn import functional as F",
}

PARTS = {
    "scores": "Scores and softmax",
    "masks": "Masks",
    "heads": "Heads",
    "positions": "Positions",
    "blocks": "Blocks, norms and dropout",
    "two-sequences": "Cross-attention",
    "data-and-loss": "Data and loss",
    "training": "Training",
    "generation": "Generation",
    "caches": "Caches",
}
"""Parts of a model by the names of their files, in the order of the page."""


@dataclass(frozen=True)
class Symptom:
    """Something that a reader sees before knowing why.

    Attributes
    ----------
    title : str
        The heading of its group.
    tag : str
        The same in a word or two.
    advice : str
        What to look at first.
    """

    title: str
    tag: str
    advice: str


SYMPTOMS = {
    "nan": Symptom(
        "NaN or infinity",
        "NaN",
        "Find the first tensor that is not finite: check after each layer with "
        "`x.isfinite().all()`, or run the step under `torch.autograd.detect_anomaly()`.",
    ),
    "leak": Symptom(
        "The loss is too good to be true",
        "loss too good",
        "Change the last token of a text. If an earlier output changes with it, the future leaks; "
        "if none does, look at how targets and splits are made.",
    ),
    "rows": Symptom(
        "Rows of weights don't sum to 1",
        "row sums",
        "Print `weights.sum(-1)` and `weights.sum(-2)`, since the one that is all ones says along "
        "which dimension the softmax ran.",
    ),
    "ignored": Symptom(
        "Order, context or another input makes no difference",
        "makes no difference",
        "Change one input at a time, and list which outputs change: "
        "`(model(a) != model(b)).any(-1)`.",
    ),
    "garbage": Symptom(
        "The loss is fine, but the samples are garbage",
        "garbage text",
        "Compare the logits that generation uses with those of one forward pass over the finished "
        "text. The first position at which they differ is the step to look at.",
    ),
    "repeats": Symptom(
        "Samples are all alike, or all noise",
        "samples alike",
        "Fix the logits, draw a thousand times, and compare the frequencies with the softmax.",
    ),
    "slow": Symptom(
        "It learns slowly, or less than it should",
        "learns slowly",
        "First let it learn a single batch by heart. If it can't, something below is likely; if "
        "it can, look at data, learning rate and regularization.",
    ),
    "diverges": Symptom(
        "The loss swings or jumps",
        "loss jumps",
        "Log the norm of the gradient at each step, before clipping.",
    ),
    "stuck": Symptom(
        "Some parameters never change",
        "never changes",
        "After one step, list the parameters whose `.grad` is `None` or that equal what they were.",
    ),
    "loss-value": Symptom(
        "The loss has a strange value, or can't be compared",
        "strange loss",
        "Before training, it should be close to ln V. A model that is sure and right should have "
        "none.",
    ),
    "error": Symptom(
        "An error, far from its cause",
        "error",
        "Print the shapes at the entrance of each module. On a GPU, run the step on the CPU first.",
    ),
    "one-length": Symptom(
        "It works at one length only",
        "one length only",
        "Run lengths 1, 2, `block_size − 1`, `block_size` and `block_size + 1`.",
    ),
    "batch": Symptom(
        "A sample depends on the rest of its batch",
        "depends on the batch",
        "Run each sample alone, then all together, and compare.",
    ),
    "changing": Symptom(
        "The same input gives different outputs",
        "output varies",
        "Call `model.eval()`, run twice, and compare. What still differs draws random numbers.",
    ),
    "cache": Symptom(
        "With a cache, the output is another",
        "with a cache",
        "Feed a text token by token and compare each step with the row of one pass over the whole.",
    ),
    "reference": Symptom(
        "Never equal to a reference, or loaded weights give other numbers",
        "differs from a reference",
        "Compare layer by layer in double precision on one fixed input. The first layer that "
        "differs by more than 1e-6 is the one.",
    ),
    "memory": Symptom(
        "Memory grows from step to step",
        "memory grows",
        "Look for tensors that outlive their step and have a `grad_fn`.",
    ),
}
"""Symptoms by the name of their anchor, in the order of the page."""


class FieldGuideError(ExtensionError):
    """An entry lacks something, or names what there is not."""


@dataclass(frozen=True)
class Entry:
    """One mistake; the module's docstring says what each attribute holds.

    `part` is the stem of the entry's file.
    """

    part: str
    name: str
    title: str
    words: tuple[str, ...]
    chapter: tuple[str, str]
    wrong: str
    right: str
    program: str
    test: str
    effect: str
    symptoms: dict[str, str]
    numbers: tuple[str, ...] = ()
    test_raises: str = "AssertionError"

    def with_line(self, line: str) -> str:
        """The program with this line, or these lines, in its place, and what it imports."""
        (before,) = re.findall(rf"^( *){LINE}$", self.program, re.MULTILINE)
        code = self.program.replace(f"{before}{LINE}", indent(line, before))
        whole = f"{code}\n{self.test}"
        needed = [text for name, text in _IMPORTS.items() if re.search(rf"\b{name}\.", whole)]
        return "\n".join([*needed, "", code])


def read(folder: Path = FOLDER) -> tuple[Entry, ...]:
    """All entries, part by part.

    Parameters
    ----------
    folder : Path
        Holds a file for each of `PARTS`.

    Raises
    ------
    FieldGuideError
        If a file or a key is missing or unknown, a name is given twice, or an entry has no symptom.
    """
    files = {path.stem: path for path in folder.glob("*.toml")}
    if set(files) != set(PARTS):
        odd = ", ".join(sorted(set(files) ^ set(PARTS)))
        raise FieldGuideError(f"{folder}: {odd}: each part has one file, and each file is a part")
    entries = [
        _entry(part, raw)
        for part in PARTS
        for raw in tomllib.loads(files[part].read_text(encoding="utf-8"))["entry"]
    ]
    names = [entry.name for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1 or name in SYMPTOMS})
    if twice:
        raise FieldGuideError(f"field guide: more than one place is called {', '.join(twice)}")
    return tuple(entries)


def anchor(heading: str) -> str:
    """The place of a heading on its page."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def markdown(entries: Sequence[Entry]) -> str:
    """The entries as MyST Markdown: grouped by symptom, then listed by part."""
    return "\n".join([*_by_symptom(entries), *_by_part(entries)])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.config.html_static_path.append(str(FOLDER / "page"))
    app.connect("source-read", _fill)
    app.connect("doctree-read", _stable_first, priority=100)  # before others note the headings
    app.connect("html-page-context", _add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the entries into their page."""
    if page != PAGE:
        return
    if source[0].count(PLACE) != 1:
        raise FieldGuideError(f"{PAGE}: one line must read {PLACE!r}")
    source[0] = source[0].replace(PLACE, markdown(read()))
    for path in FOLDER.glob("*.toml"):
        app.env.note_dependency(str(path))


def _stable_first(app: Sphinx, doctree: nodes.document) -> None:
    """Let a section's link be its entry's name; what its title makes of itself changes with it."""
    if app.env.docname == PAGE:
        for section in doctree.findall(nodes.section):
            section["ids"].reverse()


def _add(app: Sphinx, page: str, _template: str, _context: dict[str, Any], _tree: Any) -> None:
    """Add what the guide's page loads, to that page alone."""
    if page == PAGE:
        app.add_css_file("field-guide.css")
        app.add_js_file("word_stem.js", loading_method="defer")  # once, where the search has it
        app.add_js_file("field-guide-search.js", loading_method="defer")
        app.add_js_file("field-guide.js", loading_method="defer")


def _entry(part: str, raw: dict[str, Any]) -> Entry:
    texts = {
        key: value.strip("\n") if isinstance(value, str) else value for key, value in raw.items()
    }
    lists = {key: tuple(texts.pop(key, ())) for key in ("chapter", "numbers", "words")}
    try:
        entry = Entry(part=part, **lists, **texts)
    except TypeError as error:
        raise FieldGuideError(f"field guide, {part}, {raw.get('name')}: {error}") from error
    unknown = set(entry.symptoms) - set(SYMPTOMS)
    if unknown or not entry.symptoms or len(entry.chapter) != 2 or not entry.words:
        raise FieldGuideError(
            f"field guide, {entry.name}: it needs words that people search by, a chapter with a "
            f"heading, and symptoms out of {', '.join(SYMPTOMS)}; unknown: "
            f"{', '.join(sorted(unknown)) or 'none'}"
        )
    if len(re.findall(rf"^ *{LINE}$", entry.program, re.MULTILINE)) != 1:
        raise FieldGuideError(f"field guide, {entry.name}: one line of `program` must be {LINE}")
    return entry


def _by_symptom(entries: Sequence[Entry]) -> Iterable[str]:
    for name, symptom in SYMPTOMS.items():
        here = [entry for entry in entries if next(iter(entry.symptoms)) == name]
        also = [entry for entry in entries if name in entry.symptoms and entry not in here]
        yield f"(symptom-{name})=\n## {symptom.title}\n"
        yield f"{symptom.advice}\n"
        if also:
            listed = "; ".join(_link(entry) for entry in also)
            yield f"{{.guide-also}}\n{'Also' if here else 'See'}: {listed}.\n"
        for entry in here:
            yield _section(entry)


def _by_part(entries: Sequence[Entry]) -> Iterable[str]:
    yield "(by-part)=\n## All entries by part\n"
    for part, title in PARTS.items():
        listed = "; ".join(_link(entry) for entry in entries if entry.part == part)
        yield f"{{.guide-{part}}}\n**{title}**: {listed}.\n"


def _link(entry: Entry) -> str:
    return f"[{entry.title}](#{entry.name})"


def _section(entry: Entry) -> str:
    stem, heading = entry.chapter
    chapter = f"chapter {stem[:2]}" if stem[0].isdigit() else "the asides"
    tags = ", ".join(f"[{SYMPTOMS[one].tag}](#symptom-{one})" for one in entry.symptoms)
    return "\n".join(
        [
            f"({entry.name})=",
            f"### {entry.title}\n",
            f"{{.guide-facts .guide-{entry.part}}}",
            f"{PARTS[entry.part]} · {tags}\n",
            _labeled("Wrong", "guide-wrong", entry.wrong),
            _labeled("Right", "guide-right", entry.right),
            f"{entry.effect}\n",
            _labeled("The quickest test", "guide-test", entry.test),
            '<details class="guide-program">',
            "<summary>The whole example, to run</summary>\n",
            f"```python\n{entry.with_line(entry.right)}\n\n{entry.test}\n```\n",
            "</details>\n",
            f"Explained in [{chapter}, “{heading}”]({stem}.ipynb#{anchor(heading)}).\n",
            f"{{.guide-words}}\nAlso searched for as: {_listed(entry.words)}.\n",
        ]
    )


def _listed(words: Iterable[str]) -> str:
    """Words as Markdown that shows them as they are."""
    return " · ".join(re.sub(r"([\\`*_{}\[\]()#+\-.!<>&$|~^:])", r"\\\1", word) for word in words)


def _labeled(label: str, kind: str, code: str) -> str:
    block = f"```{{code-block}} python\n:class: {kind}\n{code}\n```\n"
    return f"{{.guide-label .{kind}}}\n{label}\n\n{block}"
