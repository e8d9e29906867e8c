"""The book and what checks say read like natural English: turns of phrase that crept in before
don't come back.

A short list, each with what to write. It can't tell good prose from bad; it only keeps out what
readers named as the marks of a translated text.
"""

import ast
import re
import tomllib
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for folder, pattern in (("book", "*.ipynb"), ("book", "*.md"), ("solutions", "[!.]*/*.ipynb"))
    for path in (ROOT / folder).glob(pattern)
)

# Students read the strings of these modules in verdicts, and the entries in the field guide.
MODULES = sorted(
    path for folder in ("course_judges", "course_tasks") for path in (ROOT / folder).rglob("*.py")
)
ENTRIES = sorted((ROOT / "book/field_guide").glob("*.toml"))

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
    r"\b[Ss]o little is what\b": "That is no surprise",
    r"\breservations? belongs? to\b": "caveats apply to",
    r"\bBy zero and by the mean\b": "under zero and mean ablation",
    r"\binput of nothing else\b": "say what the input holds",
    r"\b(?:the|an) attention finds\b": "the largest weight is on, or the head finds",
    r"\bgather, then think\b|\bthat did nothing wrong\b": "no aphorism",
    r"\d%": "a space before the percent sign",
}
PHRASES_OF_VERDICTS = PHRASES | {r"\bwhoever\b": "a student who, anyone who, if you"}

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


# What a computed value becomes in a line of text, so that phrases around it are seen.
GLUE = "{glue}"


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
        text = re.sub(r"\{glue(?::\w+)?\}`[^`]*`", GLUE, text)
        text = re.sub(r"`[^`\n]*`|\$[^$\n]*\$|\]\([^)]*\)|<[^>]*>", " ", text)
        for line in text.splitlines():
            yield where, line.strip()


class Strings(ast.NodeVisitor):
    """The strings of a module, each with its line, without docstrings."""

    def __init__(self):
        self.found = []

    def visit_Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            self.found.append((f"line {node.lineno}", node.value))

    def visit_JoinedStr(self, node):
        parts = [part.value if isinstance(part, ast.Constant) else GLUE for part in node.values]
        self.found.append((f"line {node.lineno}", "".join(parts)))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)


def said(path):
    """Sentences of a module's strings or of entries, without code and one-word names."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        strings = Strings()
        strings.visit(ast.parse(text))
        texts = strings.found
    else:
        entries = tomllib.loads(text)["entry"]
        texts = [(one["name"], one[key]) for one in entries for key in ("title", "effect")]
    for where, text in texts:
        if re.search(r"\s", text):
            plain = re.sub(r"`[^`]*`", "`…`", " ".join(text.split()))
            for sentence in re.split(r"(?<=[.?!]) +|(?<=\{glue\}) +(?=[A-Z])", plain):
                yield where, sentence.strip()


def turns(lines, phrases):
    """The phrases in some lines, each with its place and what to write."""
    return [
        f"{where}: “{match.group()}” → {instead}\n    {line}"
        for where, line in lines
        for phrase, instead in phrases.items()
        if (match := re.search(phrase, line, flags=re.I))
    ]


def found(path):
    return turns(prose(path), PHRASES)


def found_in_verdicts(path):
    american = {BRITISH.pattern: "its American spelling"}
    lines = list(said(path))
    for name in NAMES:
        lines = [(where, line.replace(name, "")) for where, line in lines]
    return turns(lines, PHRASES_OF_VERDICTS | american)


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
        "So little is what one would expect", "Two reservations belong to this",
        "By zero and by the mean, nothing", "an input of nothing else", "The attention finds 90 %",
        "Gather, then think.", "in 87.5% of them",
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


def questions(path):
    """What a chapter asks in passing: not before a cell is run, in a list, or as its own question
    in bold type.
    """
    asides = (">", "#", "- ", "<", *"123456789")
    lines = [
        line
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if not line.startswith(asides)
    ]
    plain = re.sub(r"`[^`\n]*`|\$[^$\n]*\$|\]\([^)]*\)|\*\*[^*]*\*\*", " ", "\n".join(lines))
    return re.findall(r"[^.?!\n]*\?", plain)


CHAPTERS = sorted((ROOT / "book").glob("[0-9]*.ipynb"))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_asks_three_questions_in_passing_at_most(chapter):
    asked = questions(chapter)
    assert len(asked) <= 3, "\n".join(asked)


def test_questions_are_counted_where_they_are_rhetorical(tmp_path):
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell(
                "Why is that? Because.\n> What comes next?\n1. Where does it look?\n**Which one?**"
            )
        ]
    )
    path = tmp_path / "chapter.ipynb"
    nbformat.write(notebook, path)
    assert questions(path) == ["Why is that?"]


@pytest.mark.parametrize("path", MODULES + ENTRIES, ids=lambda path: str(path.relative_to(ROOT)))
def test_verdict_uses_no_turn_of_phrase_that_reads_as_translated(path):
    phrases = found_in_verdicts(path)
    assert not phrases, "\n".join(phrases)


def test_each_phrase_is_seen_in_a_string_and_not_in_code_or_comments(tmp_path):
    module = tmp_path / "module.py"
    for sample in (
        'what = "Whoever looks there looks one letter too far."',
        'what = "You read the text " "anew."',
        'what = f"At {place} stands {number(value)}."',
        'what = f"Your model loses {number(value)} nats."',
        'what = f"{begin(evidence)} Who cuts among the logits sets them to zero."',
        "what = f\"It was read{' once more' if again else ''}.\"",
        'what = unwrapped(f"""It is the last\n    size of {name}.""")',
        'what = {"neighbour": "Its neighbours are wrong. Nothing."}',
    ):
        module.write_text(sample, encoding="utf-8")
        assert found_in_verdicts(module), sample
    module.write_text(
        '''"""Whoever reads this reads it anew."""

def judge(evidence):  # in place of another one
    """It stands here."""
    return Finding("counted-anew", f"You wrote `in place of` {evidence}.", "It is 08/initialise.")
''',
        encoding="utf-8",
    )
    assert not found_in_verdicts(module)
    entries = tmp_path / "entries.toml"
    entries.write_text('[[entry]]\nname = "a"\ntitle = "Simply b"\neffect = "c"', encoding="utf-8")
    assert found_in_verdicts(entries)
