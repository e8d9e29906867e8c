"""What stands where on a page: checks at a chapter's end, badges below titles, old works first."""

import pytest
from docutils import nodes
from docutils.utils import new_document
from gathered_checks import gather
from joined_folds import join
from oldest_first import OldestFirst
from pybtex.database import Entry, Person
from task_badges import divide


def cell(source, *, check=False, folded=False, output=""):
    """A cell as MyST-NB leaves it in a page's tree."""
    children = [nodes.container("", nodes.literal_block("", source), nb_element="cell_code_source")]
    if output:
        shown = nodes.container("", nodes.paragraph("", output), nb_element="cell_code_output")
        children.append(shown)
    made = nodes.container("", *children, nb_element="cell_code", classes=["cell"])
    if check:
        made["classes"].append("tag_assertion")
    if check or folded:
        made["hide_mode"] = "input"
    return made


def section(title, *children):
    return nodes.section("", nodes.title("", title), *children, ids=[title.lower()])


@pytest.fixture
def page():
    document = new_document("chapter")
    document += section(
        "Chapter",
        section(
            "First",
            nodes.paragraph("", "text"),
            cell("x = 1"),
            cell("assert x == 1", check=True),
            cell("assert x", check=True),
            nodes.paragraph("", "more"),
        ),
        section("Second", cell("assert y", check=True, output="seen")),
        section("Summary", nodes.paragraph("", "end")),
    )
    return document


def test_checks_stand_at_the_end_in_their_order(page):
    assert gather(page) == 3
    *chapter, last = page[0].children
    assert last[0].astext() == "What this chapter checks"
    code = [block.astext() for block in last.findall(nodes.literal_block)]
    assert code == ["assert x == 1", "assert x", "assert y"]
    assert [block.astext() for one in chapter for block in one.findall(nodes.literal_block)] == [
        "x = 1"
    ]


def test_each_check_leads_to_its_place_and_back(page):
    gather(page)
    last = page[0][-1]
    places = [target["ids"][0] for target in page.findall(nodes.target)]
    assert [link["refid"] for link in last.findall(nodes.reference)] == places
    marks = [one for one in page.findall(nodes.paragraph) if "check-mark" in one["classes"]]
    assert [link["refid"] for mark in marks for link in mark.findall(nodes.reference)] == [
        one for line in last.findall(nodes.paragraph) for one in line["ids"]
    ]
    assert "Second" in [line.astext() for line in last.findall(nodes.paragraph)][-1]


def test_a_section_has_one_line_of_marks_behind_its_last_check(page):
    first = page[0][1]
    first += cell("assert later", check=True)
    gather(page)
    marks = [one for one in first if "check-mark" in one.get("classes", [])]
    assert [mark.astext() for mark in marks] == ["check 1 · check 2 · check 3"]
    assert first[-1] is marks[0]


def test_what_a_check_shows_stays_in_its_place(page):
    gather(page)
    second = page[0][2]
    assert "seen" in second.astext()
    assert "seen" not in page[0][-1].astext()


def test_page_without_a_check_stays_as_it_is():
    document = new_document("page")
    document += section("Page", cell("x = 1"))
    before = document.pformat()
    assert gather(document) == 0
    assert document.pformat() == before


@pytest.mark.parametrize(
    ("heading", "parts"),
    [
        (
            "Task 1 · Scores  ●●○○ · 15 minutes · 4 points",
            ("Task 1 · Scores", "●●○○", ["15 minutes", "4 points"]),
        ),
        (
            "Written question · What next?  ●●●● · 5 minutes · 1 point · graded by hand",
            ("Written question · What next?", "●●●●", ["5 minutes", "1 point", "graded by hand"]),
        ),
        ("Task 1 · Scores", None),
        ("Averages · 5 minutes", None),
    ],
)
def test_heading_of_a_task_is_divided(heading, parts):
    assert divide(heading) == parts


def test_works_are_sorted_by_year_then_name():
    def work(year, *authors):
        people = [Person(author) for author in authors]
        return Entry("article", {"year": year, "title": "T"}, {"author": people})

    works = [work("2017", "Vaswani, A."), work("1964", "Watson, G."), work("1964", "Nadaraya, E.")]
    ordered = OldestFirst().sort(works)
    assert [str(one.persons["author"][0]) for one in ordered] == [
        "Nadaraya, E.",
        "Watson, G.",
        "Vaswani, A.",
    ]
    with pytest.raises(KeyError):
        OldestFirst().sorting_key(Entry("misc", {"title": "no year"}))


def test_folded_cells_that_follow_each_other_are_one_fold():
    document = new_document("chapter")
    document += section(
        "Chapter",
        cell("import torch", folded=True),
        cell("x = 1", folded=True),
        cell("figure", folded=True, output="a figure"),
        cell("y = 2", folded=True),
        cell("print(y)"),
        cell("z = 3", folded=True),
    )
    assert join(document) == 2
    cells = [one for one in document[0].children if isinstance(one, nodes.container)]
    assert [[code.astext() for code in one[0].children] for one in cells] == [
        ["import torch", "x = 1", "figure"],
        ["y = 2"],
        ["print(y)"],
        ["z = 3"],
    ]
    assert cells[0][1].astext() == "a figure"
