"""The field guide: every entry does what it says, every link between it and the judges holds."""

import json
import math
import re
import tomllib
from pathlib import Path

import field_guide
import pytest
import torch
from browsing import violations
from reader import ROOT
from torch import nn
from torch.nn import functional as F

from course_judges import catalogue as judges
from course_judges import field_guide as links
from course_judges.edits.table import variants
from course_tasks import catalogue, check
from course_tasks.verdict import MEDIA_TYPE, Section
from setup import recorded_verdicts

ENTRIES = {entry.name: entry for entry in field_guide.read()}
PAGE = "book/field-guide"
WIDE = {"width": 1300, "height": 900}
PHONE = {"width": 390, "height": 800}


def raises(error, function, *arguments):
    """Whether a call ends in this error; for expressions that show a symptom."""
    try:
        function(*arguments)
    except error:
        return True
    return False


class Example:
    """A program with one of its lines; all that is asked of it sees the same random numbers."""

    def __init__(self, entry, line):
        torch.manual_seed(0)
        self.entry = entry
        self.names = {"torch": torch, "nn": nn, "F": F, "math": math, "raises": raises}
        exec(entry.with_line(line), self.names)
        self.chance = torch.get_rng_state()

    def value(self, expression):
        torch.set_rng_state(self.chance)
        return eval(expression.strip(), self.names)

    def ends_in(self):
        """The error in which the quickest test ends, or None."""
        torch.set_rng_state(self.chance)
        try:
            exec(self.entry.test, self.names)
        except Exception as error:
            return error
        return None


@pytest.fixture(params=ENTRIES)
def entry(request):
    return ENTRIES[request.param]


def test_quickest_test_tells_wrong_from_right_and_symptoms_are_seen(entry):
    wrong, right = Example(entry, entry.wrong), Example(entry, entry.right)
    for symptom, shown in entry.symptoms.items():
        assert wrong.value(shown), f"{symptom} is not seen after the wrong line"
        assert not right.value(shown), f"{symptom} is seen after the right line, too"
    numbers = {one: wrong.value(one) for one in entry.numbers}
    assert all(number in entry.effect for number in numbers.values()), numbers
    known = {*numbers.values(), *(right.value(one) for one in entry.numbers)}
    assert set(re.findall(r"\d+\.\d+", entry.effect)) <= known, known
    assert right.ends_in() is None
    error = wrong.ends_in()
    assert type(error).__name__ == entry.test_raises
    if entry.test_raises != "AssertionError":
        assert any(quoted in str(error) for quoted in re.findall("“(.+?)”", entry.effect)), error


def test_example_runs_as_it_stands_on_the_page(entry):
    exec(f"import torch; torch.manual_seed(0)\n{entry.with_line(entry.right)}\n{entry.test}", {})


def code_cells(path, *, solved=False):
    """Lines of a notebook's code, without comments; of a solution, what students don't get."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    if solved:
        code = "\n".join(re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", code, re.S))
    return {re.sub(r"\s+#.*|\s", "", line) for line in code.splitlines()} - {""}


def test_no_entry_holds_a_line_that_only_a_solution_has():
    shown = set().union(*(code_cells(path) for path in ROOT.glob("book/*.ipynb")))
    hidden = set().union(
        *(code_cells(path, solved=True) for path in ROOT.glob("solutions/*/*.ipynb"))
    )
    secret = {line for line in hidden - shown if len(line) > 24}
    assert len(secret) > 300
    for entry in ENTRIES.values():
        code = "\n".join((entry.wrong, entry.with_line(entry.right), entry.test))
        lines = {re.sub(r"\s+#.*|\s", "", line) for line in code.splitlines()}
        assert not lines & secret, entry.name


def test_every_chapter_named_has_the_section(entry):
    stem, heading = entry.chapter
    cells = json.loads((ROOT / f"book/{stem}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert re.search(rf"^##+ {re.escape(heading)}$", text, re.MULTILINE)
    assert Section(stem, heading).link("").endswith(f"{stem}.html#{field_guide.anchor(heading)}")


def test_every_symptom_and_part_has_entries():
    first = {next(iter(entry.symptoms)) for entry in ENTRIES.values()}
    every = {symptom for entry in ENTRIES.values() for symptom in entry.symptoms}
    assert every == set(field_guide.SYMPTOMS)
    assert len(first) > 12
    assert {entry.part for entry in ENTRIES.values()} == set(field_guide.PARTS)


def _told(name):
    """Names of what a task's judge tells: mistakes, edits of its answer, and its own properties."""
    task, module = judges.task(name), catalogue.module_of(name).partition(".")[2]
    own = (ROOT / "course_judges" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    return (
        {"changes-its-input"}
        | {mistake.name for mistake in task.mistakes}
        | {variant.name for variant in variants(task)}
        | set(re.findall(r'"([a-z0-9-]+)",\n', own))
    )


def test_entries_and_the_judges_know_each_other():
    known = {task: _told(task) for task in catalogue.names()}
    everywhere = set().union(*known.values())
    named = [mistake for mistakes in links.entries().values() for mistake in mistakes]
    assert len(named) == len(set(named)) > 90
    assert set(links.entries()) <= set(ENTRIES)
    for mistake in named:
        task, _, name = mistake.rpartition(" ")
        assert name in (known[task] if task else everywhere), mistake


def test_an_entry_that_lacks_a_symptom_is_refused(tmp_path):
    for part in field_guide.PARTS:
        text = (field_guide.FOLDER / f"{part}.toml").read_text(encoding="utf-8")
        (tmp_path / f"{part}.toml").write_text(text, encoding="utf-8")
    assert len(field_guide.read(tmp_path)) == len(ENTRIES)
    scores = tmp_path / "scores.toml"
    scores.write_text(
        scores.read_text("utf-8").replace("[entry.symptoms]\nslow", "[entry.symptoms]\nsloow", 1)
    )
    with pytest.raises(field_guide.FieldGuideError, match=r"no-scale.*unknown: sloow"):
        field_guide.read(tmp_path)


def without_scale(x, w_query, w_key):
    return x @ w_query @ (x @ w_key).mT


def test_verdict_names_the_entry_and_links_to_it_where_the_book_is_published():
    verdict = check("05/scores", without_scale, seed=0)
    assert verdict.findings[0].entry == "no-scale"
    assert "Field guide, entry no-scale." in str(verdict)
    assert "Field guide, entry no-scale." in verdict.to_html()
    assert "field-guide.html" not in verdict.to_html()
    published = verdict.to_html("https://example.org/course/")
    assert 'href="https://example.org/course/book/field-guide.html#no-scale"' in published
    said = verdict._repr_mimebundle_()[MEDIA_TYPE]["findings"][0]
    assert said["entry"] == "no-scale"


def test_verdict_on_what_the_guide_does_not_know_names_no_entry():
    verdict = check("05/scores", lambda x, w_query, w_key: x @ w_query, seed=0)
    assert verdict.findings[0].entry == ""
    assert "ield guide" not in str(verdict) + verdict.to_html("https://example.org")
    assert "entry" not in verdict.to_json()["findings"][0]


def test_recorded_verdicts_are_what_the_check_says_today():
    remedy = "its words changed: run python -m setup.recorded_verdicts"
    assert recorded_verdicts.FILE.read_text(encoding="utf-8") == recorded_verdicts.fragment(), (
        remedy
    )


@pytest.mark.parametrize("mistake", recorded_verdicts.ANSWERS)
def test_recorded_answer_is_the_mistake_that_it_is_called(mistake):
    answer = recorded_verdicts.ANSWERS[mistake]
    for seed in range(2):
        verdict = check(recorded_verdicts.TASK, answer, seed=seed)
        assert verdict.findings[0].name == mistake
        assert verdict.points <= verdict.out_of / 2


@pytest.mark.slow
def test_page_holds_every_entry_at_its_anchor_without_any_script(book):
    page = (book / f"{PAGE}.html").read_text(encoding="utf-8")
    for place in (*ENTRIES, *(f"symptom-{name}" for name in field_guide.SYMPTOMS), "by-part"):
        assert page.count(f'<section id="{place}">') == 1, place
        assert f'href="#{place}" title="Link to this heading"' in page, place


@pytest.fixture
def guide(book, visit):
    """The page as a reader has it without a server."""
    reader = visit(book.as_uri(), viewport=WIDE, color_scheme="light")
    page = reader.open(f"{book.as_uri()}/{PAGE}.html")
    yield page
    assert reader.faults == []


def shown(page):
    """Names of the entries that a reader sees, asked for at once."""
    seen = "names => names.filter(one => document.getElementById(one).getClientRects().length)"
    return set(page.evaluate(seen, list(ENTRIES)))


def find(page, query):
    """Names of the entries that these words give, in their order."""
    page.get_by_label("Words").fill(query)
    return page.evaluate(
        "[...document.querySelectorAll('.guide-found > section:not([hidden])')].map(one => one.id)"
    )


REPORTS = tomllib.loads((Path(__file__).parent / "field_guide_reports.toml").read_text("utf-8"))


def test_reports_name_entries_that_there_are_and_where_they_were_read():
    reports = REPORTS["report"]
    assert len({one["words"] for one in reports}) == len(reports) >= 60
    assert len({name for one in reports for name in one["entries"]}) > 30
    for one in reports:
        assert set(one["entries"]) <= set(ENTRIES), one
        assert one["source"].startswith("https://")
        assert 1 <= len(one["words"].split()) <= 12, one


def first_found(page, queries, count):
    """The first names that each of many words gives; nothing is drawn between them."""
    return page.evaluate(
        """([queries, count]) => {
            const words = [...document.querySelectorAll('.guide-filter label')]
                .find(one => one.textContent.includes('Words')).control;
            return queries.map(query => {
                words.value = query;
                words.dispatchEvent(new Event('input', { bubbles: true }));
                const found = document.querySelectorAll('.guide-found > section:not([hidden])');
                return [...found].slice(0, count).map(one => one.id);
            });
        }""",
        [list(queries), count],
    )


@pytest.mark.browser
@pytest.mark.slow
def test_reporters_own_words_find_the_entry_among_the_first_three(guide):
    reports = REPORTS["report"]
    found = first_found(guide, [one["words"] for one in reports], 3)
    missed = {
        one["words"]: first
        for one, first in zip(reports, found, strict=True)
        if not set(first) & set(one["entries"])
    }
    assert len(missed) <= len(reports) // 12, missed  # 55 of 60


FORGIVEN = {
    "rope": "rotary-along-the-heads",
    "kv cache": "cache-not-reset",
    "top-p": "top-p-boundary",
    "nucleus": "top-p-boundary",
    "sliding window": "crops-the-end",
    "gradient accumulation": "accumulated-means",
    "cache offset": "cached-position",
    "leakage": "no-causal-mask",
    "bfloat16": "half-precision-scores",
    "perfect loss": "unshifted-targets",
    "-1e4": "moderate-fill",
    "\u22121e4": "moderate-fill",
    "my loss goes to zero": "unshifted-targets",
    "works for batch 1 only": "padding-seen",
    "cached generation differs": "cached-position",
    "top p": "top-p-boundary",  # without its hyphen
    "topp": "top-p-boundary",
    "KV-caches": "cache-not-reset",  # with one, and in the plural
    "zero grad": "no-zero-grad",
    "perplexities": "bits-and-nats",
    "nuclues": "top-p-boundary",  # typed in a hurry
    "gradeint acumulation": "accumulated-means",
    "rota": "rotary-on-queries-only",  # still being typed
}


@pytest.mark.browser
@pytest.mark.slow
def test_search_forgives_hyphens_plurals_and_slips(guide):
    found = dict(zip(FORGIVEN, first_found(guide, FORGIVEN, 4), strict=True))
    assert {
        query: found[query] for query, name in FORGIVEN.items() if name not in found[query]
    } == {}


@pytest.mark.browser
@pytest.mark.slow
def test_words_that_say_nothing_find_nothing_and_the_status_says_what_to_do(guide):
    assert find(guide, "zebra giraffe") == []
    assert "Try a single word" in guide.locator(".guide-count").inner_text()
    assert find(guide, "the of and") == []


def chip(page, symptom):
    return page.locator(f".guide-chip[value='{symptom}']")


@pytest.mark.browser
@pytest.mark.slow
def test_words_symptom_and_part_narrow_the_list_by_keyboard(guide):
    status = guide.locator(".guide-count")
    assert status.inner_text() == f"{len(ENTRIES)} entries"
    assert guide.evaluate("document.querySelector('article h1').nextElementSibling.className") == (
        "guide-filter"
    )
    words = guide.get_by_label("Words")
    words.focus()
    guide.keyboard.type("is_causal")
    assert "causal-flag-with-cache" in shown(guide)
    assert "no-scale" not in shown(guide)
    cached = shown(guide) & {n for n, one in ENTRIES.items() if "cache" in one.symptoms}
    chip(guide, "cache").focus()
    guide.keyboard.press("Enter")
    assert shown(guide) == cached != set()
    assert status.inner_text() == f"{len(cached)} of {len(ENTRIES)} entries"
    assert not guide.locator("section#symptom-nan").is_visible()
    guide.keyboard.press("Enter")  # a second time lets it go
    assert chip(guide, "cache").get_attribute("aria-pressed") == "false"
    guide.get_by_role("button", name="Show all").focus()
    guide.keyboard.press("Enter")
    assert shown(guide) == set(ENTRIES)
    assert words.input_value() == ""
    guide.get_by_label("Where").select_option("heads")
    assert shown(guide) == {one.name for one in ENTRIES.values() if one.part == "heads"}
    guide.get_by_label("Where").select_option("")
    chip(guide, "nan").click()
    assert shown(guide) == {one.name for one in ENTRIES.values() if "nan" in one.symptoms}


@pytest.mark.browser
@pytest.mark.slow
def test_chips_count_the_entries_that_they_would_show(guide):
    def counted():
        numbers = guide.locator(".guide-chip").all_inner_texts()
        return [int(one.rsplit(" ", 1)[1]) for one in numbers]

    def expected(entries):
        return [sum(name in one.symptoms for one in entries) for name in field_guide.SYMPTOMS]

    assert counted() == expected(ENTRIES.values())
    guide.get_by_label("Where").select_option("masks")
    assert counted() == expected([one for one in ENTRIES.values() if one.part == "masks"])
    assert chip(guide, "memory").is_disabled()
    chip(guide, "nan").click()
    assert counted() == expected([one for one in ENTRIES.values() if one.part == "masks"])
    assert set(find(guide, "triu")) == shown(guide)


@pytest.mark.browser
@pytest.mark.slow
def test_address_says_what_is_shown_and_shows_it_again(guide, book):
    find(guide, "kv cache")
    chip(guide, "cache").click()
    guide.get_by_label("Where").select_option("caches")
    before = shown(guide)
    address = guide.evaluate("location.search")
    assert address == "?q=kv+cache&see=cache&where=caches"
    guide.goto(f"{book.as_uri()}/{PAGE}.html{address}")
    assert shown(guide) == before != set()
    assert guide.get_by_label("Words").input_value() == "kv cache"
    guide.get_by_role("button", name="Show all").click()
    assert guide.evaluate("location.search") == ""
    guide.goto(f"{book.as_uri()}/{PAGE}.html?q=rope&see=none-such&where=none-such")
    assert "rotary-along-the-heads" in shown(guide)


@pytest.mark.browser
@pytest.mark.slow
def test_entries_are_folded_until_they_are_asked_for(guide, book):
    wrong = guide.locator("section#no-scale div.guide-wrong")
    title = guide.locator("section#no-scale .guide-fold")
    assert not wrong.is_visible()
    title.press("Enter")
    assert wrong.is_visible()
    assert title.get_attribute("aria-expanded") == "true"
    title.press("Enter")
    assert not wrong.is_visible()
    guide.goto(f"{book.as_uri()}/{PAGE}.html#tiny-fill")
    guide.locator("section#tiny-fill div.guide-wrong").wait_for()
    guide.emulate_media(media="print")
    assert guide.locator("section#no-scale div.guide-wrong").is_visible()


@pytest.mark.browser
@pytest.mark.slow
def test_link_to_an_entry_that_is_filtered_out_shows_it(guide):
    guide.get_by_label("Where").select_option("caches")
    assert not guide.locator("section#no-scale").is_visible()
    guide.evaluate("location.hash = '#no-scale'")
    guide.locator("section#no-scale div.guide-wrong").wait_for()
    assert shown(guide) == set(ENTRIES)


@pytest.mark.browser
@pytest.mark.slow
def test_guide_breaks_no_rule_of_accessibility_in_either_theme(guide):
    # Entries are alike, and axe takes a second for a dozen: those of one part, one unfolded.
    guide.get_by_label("Where").select_option("scores")
    guide.locator("section#no-scale .guide-fold").press("Enter")
    assert 3 < len(shown(guide)) < 15
    for viewport in (WIDE, PHONE):
        guide.set_viewport_size(viewport)
        assert violations(guide, context="article") == [], viewport
    guide.emulate_media(color_scheme="dark")
    guide.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    assert violations(guide, context="article", rules=["color-contrast"]) == []
    guide.emulate_media(media="print")
    assert not guide.locator(".guide-filter").is_visible()
    assert guide.locator("section#no-scale").is_visible()


@pytest.mark.browser
@pytest.mark.slow
def test_exercise_page_shows_one_recorded_verdict_at_a_time(book, visit):
    reader = visit(book.as_uri(), viewport=WIDE)
    page = reader.open(f"{book.as_uri()}/exercises/05-head/05-head.html")
    choices = page.locator(".recorded-verdicts details")
    assert choices.count() == len(recorded_verdicts.ANSWERS)
    verdicts = page.locator(".recorded-verdicts .course-verdict")
    for number in range(2):
        choices.nth(number).locator("summary").click()
        assert [one for one in range(choices.count()) if verdicts.nth(one).is_visible()] == [number]
    assert violations(page, context=".recorded-verdicts") == []
    assert reader.faults == []
