"""The book reads like natural English: turns of phrase that crept in before don't come back.

A short list, each with what to write. It can't tell good prose from bad; it only keeps out what
readers named as the marks of a translated text.
"""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for folder, pattern in (("book", "*.ipynb"), ("book", "*.md"), ("solutions", "[!.]*/*.ipynb"))
    for path in (ROOT / folder).glob(pattern)
)

# A phrase, and what a native writer would say.
PHRASES = {
    r"\b(?:last|first|second|leading|trailing) (?:two |three )?sizes?\b": "dimension or axis",
    r"\banew\b": "again, or from scratch",
    r"\bin place of\b": "instead of",
    r"\bonce more\b": "again",
    r"\bas it comes\b": "as it is, or unchanged",
    r"\bto norm\b": "to normalize",
    r"\ba way back\b": "a skip connection",
    r"\bmend(?:s|ed|ing)?\b": "fix, repair",
    r"\bstands?\b(?! (?:for|in|out)\b|-in)": "is, appears, holds: texts and numbers don't stand",
    r"\bloses? (?:only |about |another )?(?:\{glue|\d)": "its loss is so many nats higher",
    r"\bthe more the\b": "the more … , the more …, with a comma and a verb in each half",
    r"\b(?:simply|obviously|trivially)\b": "nothing: the reader decides what is simple",
    r"^(?:Nothing|Both|Neither|Everything|None|All of it)\.$": "a sentence with a verb",
    r"^Who [^?]*[.:]$": "name who acts: a student who …, if you …",
    r"\bhas no company\b|\bno error,? and no sense\b": "say what happens to the numbers",
}

# British spellings, anywhere in a cell: labels, alt texts and names in code are read as well.
BRITISH = re.compile(
    r"\w*colour\w*|\bneighbour\w*|\bbehaviour\w*|\bfavour\w*|\bgrey\b|\bcent(?:re|red|ring)\b"
    r"|\blearnt\b|\b(?:label|model)l(?:ed|ing)\b|\bcatalogue"
    r"|\bjudgement|\blicence|\bartefact|\banalys(?:e|ed|ing)\b|\w+isation\b"
    r"|(?:initial|normal|optim|general|organ|recogn|regular|random|visual|minim|maxim|summar|penal"
    r"|token|vector|parallel|symmetr|quant|memor|categor|special|stabil|factor)is(?:e|ed|es|er|ing)",
    flags=re.IGNORECASE,
)
NAMES = {"08/initialise"}  # of tasks: gradebooks hold them, so they stay as they are


def prose(path):
    """Lines of text with their cell's number, without code, formulas, links' targets and HTML."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        texts = [(f"cell {n}", c.source) for n, c in enumerate(cells) if c.cell_type == "markdown"]
    else:
        texts = [("page", path.read_text(encoding="utf-8"))]
    for where, text in texts:
        # A glossary is prose, although it is written in a fence.
        text = re.sub(r"^(`{3,}|~{3,})(?!\{glossary\}).*?^\1\s*$", "", text, flags=re.M | re.S)
        text = re.sub(r"\$\$.*?\$\$|<!--.*?-->", "", text, flags=re.S)
        # A glued number stays as a number's place; other inline code is no prose.
        text = re.sub(r"\{glue(?::\w+)?\}`[^`]*`", "{glue}", text)
        text = re.sub(r"`[^`\n]*`|\$[^$\n]*\$|\]\([^)]*\)|<[^>]*>", " ", text)
        for line in text.splitlines():
            yield where, line.strip()


def found(path):
    return [
        f"{where}: “{match.group()}” → {instead}\n    {line}"
        for where, line in prose(path)
        for phrase, instead in PHRASES.items()
        if (match := re.search(phrase, line, flags=re.I))
    ]


def british(path):
    """Words with British spelling in a page, code included, each with its cell's number."""
    if path.suffix == ".ipynb":
        texts = [(f"cell {n}", c.source) for n, c in enumerate(nbformat.read(path, 4).cells)]
    else:
        texts = [("page", path.read_text(encoding="utf-8"))]
    for where, text in texts:
        for name in NAMES:
            text = text.replace(name, "")
        yield from (f"{where}: {match.group()}" for match in BRITISH.finditer(text))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page_spells_as_the_libraries_do(path):
    assert not list(british(path))


def test_british_spellings_are_seen_in_code_too(tmp_path):
    page = tmp_path / "page.md"
    for sample in (
        "for colour in palette:", "its neighbours", "normalise the row", "the optimiser steps",
        "before initialisation", "a labelled axis", "learnt", "the centre of it", "Analyse it",
    ):  # fmt: skip
        page.write_text(sample, encoding="utf-8")
        assert list(british(page)), sample
    page.write_text(
        'check("08/initialise", initialize) # colors, neighbors, spelled, precise, promised, rose',
        encoding="utf-8",
    )
    assert not list(british(page))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page_uses_no_turn_of_phrase_that_reads_as_translated(path):
    phrases = found(path)
    assert not phrases, "\n".join(phrases)


def test_each_phrase_is_seen_where_it_stands_in_a_page(tmp_path):
    """The list's own expressions match what they name, and nothing in a plain sentence."""
    page = tmp_path / "page.md"
    samples = (
        "dim is the last size of x", "we read it anew", "in place of a loop", "look once more",
        "the text as it comes", "we want to norm it", "it needs a way back", "mend the mask",
        "the triangle stands below it", "it loses {glue:text}`gap` nats",
        "the more the more heads", "simply add them", "Nothing.",
        "```{glossary}\nunit\n  The last size of x.\n```",
        "Who cuts among the logits sets them to zero.", "Position 0 has no company.",
    )  # fmt: skip
    for sample in samples:
        page.write_text(sample, encoding="utf-8")
        assert found(page), sample
    page.write_text(
        "π stands for the policy.\nWho looks at position 3?\n`x.size()` is its last dimension.\n",
        encoding="utf-8",
    )
    assert not found(page)
