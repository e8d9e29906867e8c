"""The first page and the README count what the course has, and not what it once had; chapters keep
to the length that a reader has patience for.
"""

import json
from pathlib import Path

import field_guide
import pytest

from course_judges import catalogue as judges
from course_judges.edits.table import variants
from course_tasks import catalogue

ROOT = Path(__file__).parents[2]

# Of a chapter's text; what is good and off the path is an aside.
MOST_WORDS = {
    "01-averages": 3_000,
    "02-affinities": 3_000,
    "03-text": 3_200,
    "04-bigram": 3_200,
    "05-head": 3_200,
    "06-heads": 3_200,
    "07-block": 3_200,
    "08-gpt": 3_200,
    "09-names": 3_200,
    "10-jax": 2_800,
    "11-looking-inside": 3_200,
    "12-faster": 3_200,
    "13-two-sequences": 3_200,
}
MOST_WORDS_IN_ALL = 40_000


@pytest.mark.parametrize("page", ["book/index.md", "README.md"])
def test_page_counts_the_tasks_and_the_wrong_answers_that_have_a_name(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    tasks = [judges.task(task) for task in catalogue.names()]
    named = sum(len(task.mistakes) for task in tasks)
    edits = sum(len(variants(task)) for task in tasks)
    for said in (f"{len(tasks)} tasks", f"{named:,} wrong answers", f"{edits:,} edits"):
        assert said in text, f"{page} should say “{said}”"


def test_readme_counts_the_entries_of_the_field_guide():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"lists {len(list(field_guide.read()))} mistakes" in text


def words_of(chapter):
    cells = json.loads((ROOT / f"book/{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return sum(len(text.split()) for text in texts)


@pytest.mark.parametrize("chapter", MOST_WORDS)
def test_chapter_gets_to_the_point(chapter):
    words = words_of(chapter)
    assert words <= MOST_WORDS[chapter], f"{words:,} words; move what is off the path to an aside"


def test_all_chapters_together_are_a_book_that_one_reads():
    assert sorted(MOST_WORDS) == sorted(path.stem for path in (ROOT / "book").glob("[0-9]*.ipynb"))
    assert sum(map(words_of, MOST_WORDS)) <= MOST_WORDS_IN_ALL
