"""A term is played from the guide's own page: its commands and files, in a fresh folder."""

import csv
import json
import re
import shlex
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from classes import NAME, questions
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from course_grader.assignment import read
from course_grader.cli import app
from course_grader.commands import regrade as regrade_command
from course_grader.gradebook.database import database_url
from course_grader.gradebook.standing import standing

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "book" / "instructors-term.md"

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

_BLOCK = re.compile(r"^```(\{code-block\} )?(\w+)\n(?::caption: (\S+)\n)?(.*?)^```$", re.M | re.S)

# A judge that leaves the present out of a sum of the past, and an answer that does.
RUNNING_SUM = "course_judges/ch01_averages/running_sum.py"
FAULT = ("(t[:, None] < t + 1)", "(t[:, None] < t)")
STRICT = """def running_sum(x):
    T = x.shape[-1]
    return x @ torch.triu(torch.ones(T, T), 1)
"""
CHECK = "check-running-sum"
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed\n"
    "Participant 4711,Ada Lovelace,,Submitted,,{most:g},Yes\n"
    "Participant 4712,Ben Okri,,Submitted,,{most:g},Yes\n"
    "Participant 4713,Cem Kaya,,Submitted,,{most:g},Yes\n"
    "Participant 4714,Dee Novak,,Submitted,,{most:g},Yes\n"
    "Participant 4715,Eli Stone,,No submission,,{most:g},Yes\n"
)


def steps():
    """What the page says, in its order: ("run", command) or ("write", name, text)."""
    for _, kind, caption, text in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if caption:
            yield "write", caption, text
        elif kind == "console":
            for line in text.splitlines():
                assert line.startswith("$ course "), line
                yield "run", line.removeprefix("$ course ")


class Term:
    """A class, its course, and what happens between the commands."""

    def __init__(self, course, packages):
        self.course, self.packages = course, packages
        self.said, self.graded = {}, {}

    def grades(self):
        return {one.student: one for one in standing(self.course, NAME).students}

    def before(self, command):
        if command.startswith("collect"):
            self.students_hand_in()
        elif command == "regrade 01":
            self.judge_is_mended()
        elif "--scores" in command:
            self.questions_are_answered(self.course.root / command.split()[-1])
        elif command.startswith("export"):
            text = WORKSHEET.format(most=standing(self.course, NAME).out_of)
            (self.course.root / "Worksheet.csv").write_text(text)

    def after(self, command):
        if command == "late 01":
            self.answers_are_read()
        elif "--student Ada_Lovelace" in command:
            self.points_are_given("Ada_Lovelace", CHECK, 4.0)

    def students_hand_in(self):
        solved = read(self.course.solutions / NAME / f"{NAME}.ipynb")
        right = {
            cell.metadata.nbgrader.grade_id: cell.source
            for cell in solved.cells
            if cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith("answer-")
        }
        everybody = {
            ("Ada Lovelace", 4711): right,
            ("Ben Okri", 4712): right,
            ("Cem Kaya", 4713): {**right, "answer-running-sum": STRICT},
            ("Dee Novak", 4714): {},
        }
        with zipfile.ZipFile(self.course.root / "submissions.zip", "w") as archive:
            for (name, number), answers in everybody.items():
                book = read(self.course.exercises / NAME / f"{NAME}.ipynb")
                for cell in book.cells:
                    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
                    cell.source = answers.get(grade_id, cell.source)
                    if answers and grade_id in questions(self.course):
                        cell.source = f"Because. Yours, {name}"
                folder = f"{name}_{number}_assignsubmission_file_"
                archive.writestr(f"{folder}/{NAME}.ipynb", json.dumps(book))

    def answers_are_read(self):
        for student in ("Ada_Lovelace", "Ben_Okri", "Cem_Kaya"):
            for question in questions(self.course):
                self.points_are_given(student, question, self.read_as(question))

    def read_as(self, question):
        """The points that a hand gives for an answer: all but one."""
        return standing(self.course, NAME).cells[question] - 1.0

    def points_are_given(self, student, cell, points):
        with Gradebook(database_url(self.course), "averages-to-transformers") as book:
            grade = book.find_grade(cell, NAME, NAME, student)
            grade.manual_score, grade.needs_manual_grade = points, False
            book.db.commit()

    def questions_are_answered(self, table):
        """On paper, and typed: everybody answers all with "a", and gets a point for the words."""
        header, *rows = csv.reader(table.open(newline=""))
        filled = [[row[0], *["a"] * 7, "1", ""] for row in rows]
        with table.open("w", newline="") as file:
            csv.writer(file).writerows([header, *filled])

    def judge_is_mended(self):
        shutil.copy(ROOT / RUNNING_SUM, self.packages / RUNNING_SUM)


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """The page, played to its end; asserts of its steps are in `Told`."""
    folder = tmp_path_factory.mktemp("term")
    for part in ("solutions", "exercises"):
        shutil.copytree(ROOT / part / NAME, folder / "course" / part / NAME)
    shutil.copy(ROOT / "nbgrader_config.py", folder / "course")
    shutil.copytree(ROOT / "course_judges", folder / "packages" / "course_judges")
    judge = folder / "packages" / RUNNING_SUM
    assert FAULT[0] in judge.read_text()
    judge.write_text(judge.read_text().replace(*FAULT))

    from course_grader.course import Course

    played = Term(Course(folder / "course"), folder / "packages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "course")
        # The processes that judge import this copy; the page's reader installs another release.
        patch.setenv("PYTHONPATH", f"{folder / 'packages'}:{ROOT}")
        terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
        patch.setattr(regrade_command, "sys", terminal)
        for kind, what, *text in steps():
            if kind == "write":
                path = folder / "course" / what
                added = path.read_text() if what == "nbgrader_config.py" else ""
                path.write_text(added + "\n" + text[0] if added else text[0])
                continue
            played.before(what)
            done = CliRunner().invoke(app, shlex.split(what), env={"COLUMNS": "250"}, input="y\n")
            played.said[what] = (done.exit_code, done.output)
            if (folder / "course" / "gradebook.db").exists():
                played.graded[what] = played.grades()
            played.after(what)
    played.course = Course(folder / "course")
    return played


def test_every_command_ends_as_the_page_says(term):
    codes = {command: code for command, (code, _) in term.said.items()}
    expected = dict.fromkeys(codes, 0)
    for command in codes:
        # Somebody is missing; somebody's page is not final; files of the class hold a name.
        if command.startswith(("roster", "export", "forget Dee_Novak --yes")):
            expected[command] = 1
    assert codes == expected, {c: term.said[c] for c in codes if codes[c] != expected[c]}


def test_roster_names_who_is_missing_and_decides_nothing(term):
    first, second = (said for command, (_, said) in term.said.items() if "roster" in command)
    assert re.search(r"Ben_Okri +benjamin\.okri \(Benjamin Okri\)", first)
    assert "eli.stone" in first
    assert "eli.stone" in second
    assert term.graded["grade 01"]["Ben_Okri"].first_name == "Benjamin"


def test_extension_gives_back_what_being_late_had_cost(term):
    before, after = term.graded["grade 01"], term.graded["late 01"]
    assert before["Ben_Okri"].penalty == pytest.approx(0.2 * before["Ben_Okri"].points)
    assert after["Ben_Okri"].penalty == 0
    assert after["Cem_Kaya"].penalty == pytest.approx(0.2 * after["Cem_Kaya"].points)
    assert {name: one.run.graded_at for name, one in before.items()} == {
        name: one.run.graded_at for name, one in after.items()
    }


def test_dispute_shows_the_same_and_writes_nothing(term):
    command = "regrade 01 --student Ada_Lovelace --dry-run"
    assert "0 gain, 0 lose, 1 stay" in term.said[command][1]
    run = term.graded[command]["Ada_Lovelace"].run
    assert run == term.graded["late 01"]["Ada_Lovelace"].run


def test_penalty_counts_points_that_a_hand_gave_since(term):
    for command in ("feedback 01 --for moodle", "regrade 01"):
        cem = term.graded[command]["Cem_Kaya"]
        assert cem.penalty == pytest.approx(0.2 * cem.points), command


def test_mended_judge_names_who_gains_and_loses_and_points_of_a_hand_stay(term):
    _, said = term.said["regrade 01"]
    assert re.search(r"Cem_Kaya .* loses", said)
    assert re.search(r"Ben_Okri .* gains", said)
    assert re.search(r"Ada_Lovelace .*points given by hand stay", said)
    after = term.graded["regrade 01"]
    given = {cell.name: cell for cell in after["Ada_Lovelace"].cells}
    assert (given[CHECK].points, given[CHECK].by_hand) == (4.0, True)
    read_by_hand = {name: (term.read_as(name), False) for name in questions(term.course)}
    assert read_by_hand
    for student in ("Ada_Lovelace", "Ben_Okri", "Cem_Kaya"):
        marks = {cell.name: (cell.points, cell.waits) for cell in after[student].cells}
        assert {name: marks[name] for name in read_by_hand} == read_by_hand, student
    judged = [cell for cell in after["Ben_Okri"].cells if cell.name not in read_by_hand]
    assert {cell.points == cell.out_of for cell in judged} == {True}


def test_who_passed_is_asked_about_their_code_and_scores_are_given_by_hand(term):
    papers = term.course.root / "exports" / f"{NAME}-defense"
    assert {path.parent.name for path in papers.glob("*/paper.html")} == {
        "Ada_Lovelace",
        "Ben_Okri",
        "Cem_Kaya",
    }
    assert "Dee_Novak: passed no task" in term.said["defend 01"][1]
    with Gradebook(database_url(term.course), "averages-to-transformers") as book:
        scores = {
            one.student.id: one.notebooks[0].grades[0].manual_score
            for one in book.assignment_submissions(f"{NAME}-defense")
        }
    assert set(scores) == {"Ada_Lovelace", "Ben_Okri", "Cem_Kaya"}
    assert all(1 <= score <= 8 for score in scores.values())


def test_feedback_and_scores_are_in_moodles_form(term):
    archive = term.course.root / "exports" / f"{NAME}-feedback-moodle.zip"
    with zipfile.ZipFile(archive) as pages:
        names = pages.namelist()
        text = pages.read(next(name for name in names if "Cem" in name)).decode()
    assert "Ben Okri_4712_assignsubmission_file_/01-averages-feedback.html" in names
    assert "were taken off for it" in text
    with (term.course.root / "exports" / f"{NAME}-moodle.csv").open(newline="") as file:
        filled = {row["Full name"]: row["Grade"] for row in csv.DictReader(file)}
    assert float(filled["Ben Okri"]) > float(filled["Cem Kaya"]) > 0
    assert filled["Eli Stone"] == ""


def test_whoever_asks_is_forgotten_and_the_copy_names_nobody(term):
    named = [
        path.relative_to(term.course.root).as_posix()
        for path in term.course.root.rglob("*")
        if path.is_file() and b"Dee_Novak" in path.read_bytes()
    ]
    assert set(named) <= {f"exports/{NAME}-feedback-moodle.zip", f"exports/{NAME}-moodle.csv"}
    assert "Dee_Novak" not in term.grades()
    given = term.course.root.parent / "for-research"
    text = "".join(path.read_text() for path in given.iterdir())
    assert not re.search("Ada|Ben|Cem|Dee|Lovelace|Okri", text)
    assert "student-0003" in text
