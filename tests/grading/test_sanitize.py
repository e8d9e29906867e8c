"""What is run is the released assignment with the student's cells, whatever they made of it."""

import copy
import gc
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from course_grader.assignment import Assignment
from course_grader.errors import FaultyAssignmentError
from course_grader.sandbox.sanitize import MOST_CELLS, MOST_CHARACTERS_OF_A_CELL, sanitize

PATH = Path(__file__).parents[2] / "exercises" / "04-bigram" / "04-bigram.ipynb"
RELEASED = nbformat.read(PATH, as_version=4)
CHECKS = Assignment.of(RELEASED).checks


@pytest.fixture
def submitted():
    return copy.deepcopy(RELEASED)


def place(notebook, grade_id):
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    return ids.index(grade_id)


def checks_of(work):
    return [step for step in work.steps if step.kind == "check"]


def test_untouched_exercise_gives_every_cell_in_its_order_and_nothing_to_say(submitted):
    work = sanitize(RELEASED, submitted)
    assert work.notes == ()
    assert [step.source for step in work.steps] == [cell.source for cell in RELEASED.cells]
    assert [step.check for step in checks_of(work)] == list(CHECKS)


@given(seed=st.integers(0, 10**6))
def test_every_released_check_is_asked_once_whatever_is_done_to_the_cells(seed):
    draw = random.Random(seed)
    notebook = copy.deepcopy(RELEASED)
    cells = [
        copy.deepcopy(cell) for cell in notebook.cells for _ in range(draw.choice([0, 1, 1, 2]))
    ]
    draw.shuffle(cells)
    for cell in cells:
        done = draw.random()
        if done < 0.2:
            cell.source = draw.choice(["", "100.0", "check(", "\x00", "\ud800"])
        elif done < 0.3:
            cell.metadata = {"nbgrader": draw.choice([None, [], {"grade_id": 7}, {"points": 99}])}
        elif done < 0.4 and "nbgrader" in cell.metadata:
            cell.metadata["nbgrader"].update(points=999, grade=False, solution=True)
        elif done < 0.5:
            cell["cell_type"] = draw.choice(["code", "markdown", "raw"])
    notebook.cells = cells
    work = sanitize(RELEASED, notebook)
    asked = sorted((step.grade_id, step.check.task, step.check.points) for step in checks_of(work))
    assert asked == sorted((check.grade_id, check.task, check.points) for check in CHECKS)
    assert {step.source for step in checks_of(work)} == {check.source for check in CHECKS}
    for step in work.steps:
        step.source.encode("utf-8")


def test_source_of_a_check_is_the_released_one_and_the_change_is_said(submitted):
    here = place(submitted, CHECKS[0].grade_id)
    submitted.cells[here].source = "4.0"
    work = sanitize(RELEASED, submitted)
    assert checks_of(work)[0].source == CHECKS[0].source
    assert "was changed" in " ".join(work.notes)


def test_missing_check_is_asked_behind_its_answer(submitted):
    del submitted.cells[place(submitted, CHECKS[1].grade_id)]
    submitted.cells.append(new_code_cell("last = 1"))
    work = sanitize(RELEASED, submitted)
    at = next(n for n, step in enumerate(work.steps) if step.check == CHECKS[1])
    assert f"def {CHECKS[1].answer}(" in work.steps[at - 1].source
    assert "was missing" in " ".join(work.notes)


def test_notebook_of_another_assignment_is_called_so_and_one_without_checks_is_not(submitted):
    other = PATH.parents[1] / "05-head" / "05-head.ipynb"
    work = sanitize(RELEASED, nbformat.read(other, as_version=4))
    assert "was another assignment handed in?" in " ".join(work.notes)
    checks = {check.grade_id for check in CHECKS}
    submitted.cells = [
        cell
        for cell in submitted.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") not in checks
    ]
    notes = " ".join(sanitize(RELEASED, submitted).notes)
    assert "was missing" in notes
    assert "another assignment" not in notes


def test_check_above_its_answer_is_asked_below_it(submitted):
    cell = submitted.cells.pop(place(submitted, CHECKS[2].grade_id))
    submitted.cells.insert(0, cell)
    work = sanitize(RELEASED, submitted)
    at = next(n for n, step in enumerate(work.steps) if step.check == CHECKS[2])
    assert f"def {CHECKS[2].answer}(" in work.steps[at - 1].source
    assert "stood above its answer" in " ".join(work.notes)


class TestWorkInUnexpectedPlaces:
    """What a cell defines is asked wherever it stands; an unfilled scaffold is no answer."""

    CHECK = CHECKS[0]
    SCAFFOLD = next(a for a in Assignment.of(RELEASED).answers if CHECKS[0].answer in a.defines)
    FILLED = f"def {CHECKS[0].answer}(*given):\n    return given"

    def asked_of(self, submitted):
        """The last definition above the check, and the notes."""
        work = sanitize(RELEASED, submitted)
        (at,) = [n for n, step in enumerate(work.steps) if step.check == self.CHECK]
        above = [
            step.source for step in work.steps[:at] if f"def {self.CHECK.answer}" in step.source
        ]
        return above[-1], " ".join(work.notes)

    def fill(self, submitted, grade_id=None):
        submitted.cells[place(submitted, grade_id or self.SCAFFOLD.grade_id)].source = self.FILLED

    def test_of_two_definitions_the_last_one_counts_and_the_student_is_told(self, submitted):
        self.fill(submitted)
        again = self.FILLED.replace("return given", "return given[0]")
        submitted.cells.append(new_code_cell(again))
        asked, notes = self.asked_of(submitted)
        assert asked == again
        assert "the last one counts" in notes

    @pytest.mark.parametrize("where", ["behind the check", "at the end", "in a copied cell"])
    def test_answer_below_an_unfilled_scaffold_is_asked(self, submitted, where):
        here = place(submitted, self.CHECK.grade_id)
        cell = new_code_cell(self.FILLED)
        if where == "in a copied cell":
            cell.metadata = copy.deepcopy(submitted.cells[here - 1].metadata)
        submitted.cells.insert(len(submitted.cells) if where == "at the end" else here + 1, cell)
        asked, notes = self.asked_of(submitted)
        assert asked == self.FILLED
        assert "run below it" in notes
        assert self.SCAFFOLD.grade_id not in sanitize(RELEASED, submitted).unanswered

    @pytest.mark.parametrize("stale", ["above", "below"])
    def test_in_a_doubled_notebook_the_filled_copy_counts(self, submitted, stale):
        filled = copy.deepcopy(submitted)
        self.fill(filled)
        first, second = submitted.cells, filled.cells
        submitted.cells = first + second if stale == "above" else second + first
        asked, notes = self.asked_of(submitted)
        assert asked == self.FILLED
        assert f"{len(CHECKS)} checks are there twice" in notes
        answers = {step.grade_id: step.source for step in sanitize(RELEASED, submitted).steps}
        assert answers[self.SCAFFOLD.grade_id] == self.FILLED

    def test_written_answer_in_the_second_copy_is_the_one_that_formgrader_shows(self, submitted):
        question = Assignment.of(RELEASED).questions[0].grade_id
        again = copy.deepcopy(submitted)
        again.cells[place(again, question)].source = "Because."
        submitted.cells += again.cells
        (shown,) = [s for s in sanitize(RELEASED, submitted).steps if s.grade_id == question]
        assert (shown.kind, shown.source) == ("question", "Because.")

    @pytest.mark.parametrize(
        "changed",
        [
            lambda source: source + "\n# still to do",
            lambda source: re.sub('""".*?"""', '"""I start here."""', source, flags=re.DOTALL),
            lambda source: source.replace("    ", "  "),
            lambda source: source + "\nprint('later')",
            lambda _: f"def {CHECKS[0].answer}(counts):\n    raise NotImplementedError('later')",
        ],
        ids=["comment", "docstring", "layout", "print", "rewritten"],
    )
    def test_scaffold_with_other_words_in_it_is_still_one(self, submitted, changed):
        self.fill(submitted)
        submitted.cells.append(new_code_cell(changed(self.SCAFFOLD.source)))
        asked, notes = self.asked_of(submitted)
        assert asked == self.FILLED
        assert notes == ""

    def test_scaffold_between_answer_and_check_hides_no_answer(self, submitted):
        self.fill(submitted)
        here = place(submitted, self.CHECK.grade_id)
        submitted.cells.insert(here, new_code_cell(self.SCAFFOLD.source))
        asked, notes = self.asked_of(submitted)
        assert asked == self.FILLED
        assert "still to be filled" in notes

    def test_name_overwritten_by_its_own_result_is_asked_before_that_and_said(self, submitted):
        self.fill(submitted)
        here = place(submitted, self.CHECK.grade_id)
        submitted.cells.insert(here, new_code_cell(f"{self.CHECK.answer} = {self.CHECK.answer}(3)"))
        work = sanitize(RELEASED, submitted)
        assert work.steps[here].check == self.CHECK
        assert "overwrites" in " ".join(work.notes)

    def test_what_stands_right_below_a_moved_answer_is_run_before_it_is_asked(self, submitted):
        uses = f"def {self.CHECK.answer}(counts):\n    return own_part(counts)"
        submitted.cells += [new_code_cell(uses), new_code_cell("def own_part(counts): ...")]
        work = sanitize(RELEASED, submitted)
        assert work.steps[-1].check == self.CHECK

    def test_magic_that_runs_the_cell_leaves_it_an_answer(self, submitted):
        submitted.cells.append(new_code_cell(f"%%time\n{self.FILLED}\n%timeit 1"))
        work = sanitize(RELEASED, submitted)
        assert work.steps[-1].check == self.CHECK


class TestImports:
    """The lines that the assignment imports with are the course's own: they are run in any case."""

    OWN = RELEASED.cells[1].source

    def test_changed_imports_are_run_after_the_released_ones(self, submitted):
        submitted.cells[1].source = f"from jaxtyping import Float\n{self.OWN}"
        steps = sanitize(RELEASED, submitted).steps
        assert (steps[0].source, steps[2].source) == (self.OWN, submitted.cells[1].source)

    def test_lines_added_below_them_change_nothing(self, submitted):
        submitted.cells[1].source = f"{self.OWN}\nimport my_own_module"
        assert len(sanitize(RELEASED, submitted).steps) == len(submitted.cells)


def test_own_cells_are_run_and_shown_without_their_metadata(submitted):
    own = new_code_cell(
        "1 + 1", metadata={"nbgrader": {"grade": True, "points": 50}, "tags": ["x"]}
    )
    submitted.cells.insert(3, own)
    step = sanitize(RELEASED, submitted).steps[3]
    assert (step.kind, step.source, step.grade_id, step.check) == ("code", "1 + 1", "", None)


def test_answer_that_became_text_is_not_run_and_said(submitted):
    here = place(submitted, "answer-nll")
    submitted.cells[here] = new_markdown_cell("done", metadata=submitted.cells[here].metadata)
    work = sanitize(RELEASED, submitted)
    assert "is text, not code" in " ".join(work.notes)
    assert work.steps[here].kind == "text"


def test_untouched_questions_are_unanswered_and_others_are_not(submitted):
    question = Assignment.of(RELEASED).questions[0]
    assert question.grade_id in sanitize(RELEASED, submitted).unanswered
    submitted.cells[place(submitted, question.grade_id)].source = "Because."
    assert question.grade_id not in sanitize(RELEASED, submitted).unanswered
    del submitted.cells[place(submitted, question.grade_id)]
    assert question.grade_id in sanitize(RELEASED, submitted).unanswered


class TestAnswersElsewhere:
    """An empty field is a zero that nobody looks at: only if nothing else may be the answer."""

    QUESTION = Assignment.of(RELEASED).questions[0].grade_id
    WORDS = new_markdown_cell("Because rare pairs cost most.")

    def left(self, submitted):
        """Whether the question counts as unanswered, and the notes."""
        work = sanitize(RELEASED, submitted)
        return self.QUESTION in work.unanswered, " ".join(work.notes)

    @pytest.mark.parametrize("side", [0, 1], ids=["above", "below"])
    @pytest.mark.parametrize(
        "cell",
        [
            WORDS,
            new_raw_cell("Because."),
            new_code_cell("Because rare pairs cost most."),
            new_code_cell("# Because rare pairs cost most."),
        ],
        ids=["text", "raw", "words", "comment"],
    )
    def test_words_beside_the_empty_field_wait_for_a_person(self, submitted, cell, side):
        submitted.cells.insert(place(submitted, self.QUESTION) + side, new_code_cell("x = 1"))
        submitted.cells.insert(place(submitted, self.QUESTION) + side, cell)
        unanswered, notes = self.left(submitted)
        assert not unanswered
        assert "beside it" in notes

    def test_words_in_the_assignments_own_text_above_it_do(self, submitted):
        submitted.cells[place(submitted, self.QUESTION) - 1].source += "\n\nBecause."
        assert not self.left(submitted)[0]

    def test_words_elsewhere_and_code_do_not(self, submitted):
        submitted.cells.insert(2, self.WORDS)
        submitted.cells += [new_code_cell("%time x = 1"), new_code_cell(" "), new_raw_cell("")]
        assert self.left(submitted) == (True, "")

    def test_retyped_field_shows_the_words_in_its_place(self, submitted):
        submitted.cells[place(submitted, self.QUESTION)] = self.WORDS
        submitted.cells.reverse()
        work = sanitize(RELEASED, submitted)
        assert self.QUESTION not in work.unanswered
        (step,) = [step for step in work.steps if step.grade_id == self.QUESTION]
        assert (step.kind, step.source) == ("question", self.WORDS.source)

    def test_answer_in_the_second_of_two_fields_waits(self, submitted):
        second = submitted.cells[place(submitted, self.QUESTION)]
        submitted.cells.insert(0, copy.deepcopy(second))
        assert self.left(submitted)[0]
        second.source = "Because."
        assert not self.left(submitted)[0]

    def test_answer_that_is_too_long_is_cut_and_waits(self, submitted):
        submitted.cells[place(submitted, self.QUESTION)].source = "x" * 10**6
        unanswered, notes = self.left(submitted)
        assert not unanswered
        assert "was cut" in notes

    def test_field_that_may_be_among_the_cells_not_read_waits(self, submitted):
        submitted.cells[4:4] = [new_code_cell("1")] * MOST_CELLS
        assert not self.left(submitted)[0]


def test_what_nobody_writes_by_hand_is_left_out_and_said(submitted):
    submitted.cells.insert(0, new_code_cell("#" * (MOST_CHARACTERS_OF_A_CELL + 1)))
    submitted.cells += [new_code_cell("1")] * MOST_CELLS
    work = sanitize(RELEASED, submitted)
    assert len(work.steps) <= MOST_CELLS
    assert "was left out" in work.notes[0]
    assert "only the first" in " ".join(work.notes)


def test_the_file_itself_is_left_as_it_is(submitted):
    submitted.cells[0].source = "changed"
    before = nbformat.writes(submitted)
    sanitize(RELEASED, submitted)
    assert nbformat.writes(submitted) == before


def test_assignment_without_anything_graded_is_refused(submitted):
    with pytest.raises(FaultyAssignmentError, match="nothing that is graded"):
        sanitize(new_notebook(cells=[new_code_cell("1")]), submitted)


def test_long_cells_are_read_in_many_threads_at_once(submitted):
    """Where a garbage collection lets another thread go on, parsing there disturbs parsing here."""
    source = "\n".join(f"def f_{n}(x):\n    return [x + {n} for _ in x]" for n in range(1000))
    submitted.cells[place(submitted, CHECKS[0].grade_id) - 1].source = source

    def read(depth):
        return sanitize(RELEASED, submitted) if depth == 0 else read(depth - 1)

    def let_others_go_on(*about):
        return sum(range(50))

    often = sys.getswitchinterval()
    gc.callbacks.append(let_others_go_on)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            works = list(threads.map(read, [1, 5, 9, 13] * 3))
    finally:
        sys.setswitchinterval(often)
        gc.callbacks.remove(let_others_go_on)
    assert {work.notes for work in works} == {()}
