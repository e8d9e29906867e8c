"""The program of the first page: what is printed is what runs, and does what the library does."""

import ast
import json
import re
import subprocess
import sys

import nbformat
import pytest
import torch
from linked_listing import divide, with_links
from reader import ROOT

from benchmarks.whole_program import PROGRAM, program
from course_lib.config import Config
from course_lib.data import play
from course_lib.model import GPT, fuse

SOURCE = PROGRAM.read_text(encoding="utf-8")
PAGES = ("book/ten-minutes.ipynb", "book/08-gpt.ipynb")
MOST_LINES = 120
# What the library calls the same weights.
LIBRARY_NAMES = (
    (r"^symbols\.", "embedding.tokens."),
    (r"^positions\.", "embedding.positions."),
    (r"\.feed_forward\.(\d)", r".feed_forward.layers.\1"),
)


@pytest.mark.parametrize("page", PAGES)
def test_the_page_prints_the_script_as_it_is(page):
    cells = nbformat.read(ROOT / page, as_version=4).cells
    shown = [cell.source for cell in cells]
    shown += [
        out.get("data", {}).get("text/markdown") for c in cells for out in c.get("outputs", [])
    ]
    assert shown.count(f"```python\n{SOURCE}```") == 1


def test_the_program_is_short_and_needs_nothing_of_the_course():
    assert len(SOURCE.splitlines()) <= MOST_LINES
    imports = [node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.Import)]
    froms = [node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names} | {n.module for n in froms}
    assert {name.partition(".")[0] for name in names} == {"math", "sys", "pathlib", "torch"}


def test_the_model_gives_the_logits_of_the_library_from_the_same_weights():
    torch.manual_seed(3)
    whole = program().GPT(23, block_size=12, n_embd=24, n_head=3, n_layer=2)
    for weight in whole.parameters():  # away from what both would begin with
        torch.nn.init.normal_(weight, std=0.3)
    weights = {}
    for name, weight in whole.state_dict().items():
        for mine, theirs in LIBRARY_NAMES:
            name = re.sub(mine, theirs, name)
        if not name.endswith(".past"):
            weights[name] = weight
    library = fuse(GPT(Config(23, 12, n_layer=2, n_head=3, n_embd=24)))
    library.load_state_dict(weights)  # strict: each has a place, and each place is filled
    tokens = torch.randint(23, (4, 9))
    logits = whole(tokens)
    assert (logits - library(tokens)[0]).abs().max() < 1e-5
    assert logits.abs().max() > 0.1


def test_three_seeds_reach_the_published_loss():
    stored = json.loads((ROOT / "benchmarks/results/whole_program.json").read_text())["results"]
    assert [run["seed"] for run in stored["runs"]] == [1, 2, 3]
    assert max(run["loss"] for run in stored["runs"]) < 2.009


@pytest.mark.slow
def test_it_learns_a_text_of_ones_own_and_writes(tmp_path):
    text = tmp_path / "mine.txt"
    text.write_text(play.write(30_000, seed=4).text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, PROGRAM, text, "60"], capture_output=True, text=True, check=True
    )
    losses = [float(loss) for loss in re.findall(r"held-out loss ([\d.]+)", done.stdout)]
    assert len(losses) == 10
    assert losses[-1] < 3.0 < losses[0]
    written = done.stdout.split("\n", len(losses))[-1]
    assert len(written) == 400 + 2  # the first symbol, what was drawn, and the line's end
    assert set(written) <= set(text.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_without_a_text_it_says_how_it_is_called():
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "python whole_program.py TEXT" in done.stderr


def test_every_line_has_its_chapter_and_marks_are_left_out():
    source, chapters = divide(SOURCE)
    lines = source.splitlines()
    assert "chapter" not in source
    assert len(lines) == len(chapters) == len(SOURCE.splitlines())
    assert set(chapters) == {"", "01", "02", "03", "04", "05", "06", "07", "08"}
    of = dict(zip(lines, chapters, strict=True))
    assert of["        weights = scores.softmax(dim=-1)  # (B, H, T, T)"] == "01"
    assert of["        loss.backward()"] == "04"


def test_a_listing_whose_lines_were_lost_is_refused():
    with pytest.raises(ValueError, match="2 lines of a listing became 1"):
        with_links("<pre>a = 1\n</pre>", ["01", "01"], {"01": "01.html"})


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_lines_of_the_built_page_lead_to_their_chapters(book, page):
    text = (book / page).with_suffix(".html").read_text(encoding="utf-8")
    listing = re.search(r'<div class="[^"]*linked-listing">.*?</pre>', text, re.DOTALL)
    links = re.findall(r'<a class="listing-chapter" href="([^"]+)"', listing[0])
    _, chapters = divide(SOURCE)
    assert [link[:2] for link in links] == [chapter for chapter in chapters if chapter]
    for link in set(links):
        assert (book / "book" / link).is_file()
