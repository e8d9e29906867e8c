"""Papers about students' code become question banks and scores, and nothing of them markup."""

import re
import warnings
from xml.etree import ElementTree

import pytest

from course_grader.defend import banks, pdf, scores, sheets
from course_grader.errors import BrowserMissingError, GradebookError, UnreadableSheetError
from course_grader.gradebook.database import gradebook
from course_grader.release import release
from course_judges.defending.contract import Given, Option, Paper, Question

CODE = ((1, "def f(x):"), (2, "    return {x: 'a=b'}  # ~#:\\ </script><b>"))


def paper(student, right=1):
    options = tuple(
        Option(f"`x[{n}] = {{{n}}}`", right=n == right, reason=f"Because ~{n}#.") for n in range(4)
    )
    questions = (
        Question(
            "read", "one", ((2, "    return x"),), "What does `x[0]` hold?\n\nReally?", options
        ),
        Question("why", "two", (), "In one sentence: why?", model_answer="Because <it> is = so."),
    )
    return Paper("05/scores", "Scores", student, CODE, (Given("x", (2,), "[1, 2]"),), questions)


PAPERS = [paper("ada"), paper("b/<i>bob</i>", right=3)]


def test_moodle_finds_a_category_for_each_student_and_one_right_answer():
    quiz = ElementTree.fromstring(banks.moodle(PAPERS, "Defend it · 05"))
    kinds = [one.get("type") for one in quiz]
    assert kinds == ["category", "multichoice", "essay"] * 2
    categories = [one.findtext("category/text") for one in quiz if one.get("type") == "category"]
    assert categories == ["$course$/Defend it · 05/ada", "$course$/Defend it · 05/b//<i>bob<//i>"]
    for one, right in zip(quiz.findall("question[@type='multichoice']"), (1, 3), strict=True):
        shares = [answer.get("fraction") for answer in one.findall("answer")]
        assert shares == ["100" if n == right else "0" for n in range(4)]
        text = one.findtext("questiontext/text")
        assert "</script>" not in text
        assert "&lt;/script&gt;&lt;b&gt;" in text
        assert one.findtext("answer/feedback/text") == "Because ~0#."
    assert quiz.findtext("question[@type='essay']/graderinfo/text") == "Because &lt;it&gt; is = so."


def test_a_student_can_end_no_question_of_a_gift_file():
    text = banks.gift(PAPERS, "Defend it · 05")
    bare = re.sub(r"\\.", "", text)  # what is escaped is nobody's sign
    assert bare.count("{") == bare.count("}") == 4
    assert bare.count("::") == 8
    assert len(re.findall(r"^=", bare, re.MULTILINE)) == 2
    assert len(re.findall(r"^~", bare, re.MULTILINE)) == 6
    # Blank lines stand between questions and nowhere else.
    assert len(text.strip().split("\n\n")) == 6
    assert "<b>" not in text


@pytest.mark.parametrize("keys", [False, True])
def test_what_students_wrote_is_text_on_every_sheet(keys):
    for page in (sheets.page(PAPERS, "Sheets", keys=keys), sheets.aloud(PAPERS, "Aloud")):
        assert "</script><b>" not in page
        assert "&lt;/script&gt;&lt;b&gt;" in page
        assert "<i>bob" not in page
    assert ("Because ~1#." in sheets.page(PAPERS, "Sheets", keys=keys)) is keys


def table(tmp_path, *rows):
    path = tmp_path / "results.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_letters_are_counted_by_the_key_and_points_are_taken_as_they_are(tmp_path):
    path = table(tmp_path, "student;1;2;points", "ada;B);0,5;", "b/<i>bob</i>;a;;1.5")
    assert scores.read(path, PAPERS) == {"ada": 1.5, "b/<i>bob</i>": 1.5}
    path = table(tmp_path, "student,1,2", "ada,c,", "b/<i>bob</i>,,")
    assert scores.read(path, PAPERS) == {"ada": 0.0}  # who answered nothing was not there


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("eve,a,", "no paper of 'eve'"),
        ("ada,e,", "'e' is none of the letters"),
        ("ada,a,2", "'2' is no number from 0 to 1"),
        ("ada,a,x", "'x' is no number"),
        ("ada,,,9", "'9' is no number from 0 to 2"),
        ("ada,a,\nada,b,", "'ada' stands there twice"),
    ],
)
def test_a_row_that_says_nothing_sensible_is_named(tmp_path, row, said):
    with pytest.raises(UnreadableSheetError, match=re.escape(said)):
        scores.read(table(tmp_path, "student,1,2,points", row), PAPERS)


def test_an_empty_table_has_a_row_for_each_student_and_is_read_as_nobody(tmp_path):
    scores.template(tmp_path / "results.csv", PAPERS)
    assert scores.read(tmp_path / "results.csv", PAPERS) == {}


def by_hand(course, assignment):
    with gradebook(course) as book:
        return {
            one.student.id: [
                (grade.name, grade.manual_score, grade.needs_manual_grade, grade.max_score)
                for grade in one.notebooks[0].grades
                if grade.manual_score is not None
            ]
            for one in book.assignment_submissions(assignment)
        }


@pytest.mark.slow
def test_scores_stand_in_the_gradebook_as_given_by_hand(course, tmp_path):
    release(course, "05-head", gradebook=True)
    path = table(tmp_path, "student,1,2", "ada,b,1", "b/<i>bob</i>,a,1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = scores.enter(course, "05-head", path, PAPERS)
    assert (done.assignment, done.cell, done.out_of) == ("05-head-defense", "defend-it", 2)
    wanted = {
        "ada": [("defend-it", 2.0, False, 2.0)],
        "b/<i>bob</i>": [("defend-it", 1.0, False, 2.0)],
    }
    assert by_hand(course, "05-head-defense") == wanted
    # A second table replaces what it names, and leaves the rest.
    done = scores.enter(course, "05-head", table(tmp_path, "student,1,2", "ada,a,"), PAPERS)
    assert done.left == ("b/<i>bob</i>",)
    wanted["ada"] = [("defend-it", 0.0, False, 2.0)]
    assert by_hand(course, "05-head-defense") == wanted
    # Or a question of the assignment itself gets them; any other cell is refused.
    path = table(tmp_path, "student,points", "ada,1.5")
    scores.enter(course, "05-head", path, PAPERS, cell="written-explain")
    assert by_hand(course, "05-head")["ada"][0][:3] == ("written-explain", 1.5, False)
    with pytest.raises(GradebookError, match="no question 'check-scores' that is graded by hand"):
        scores.enter(course, "05-head", path, PAPERS, cell="check-scores")


def test_without_chromium_it_is_said_what_helps(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CHROMIUM", "")
    with pytest.raises(BrowserMissingError, match="sudo apt-get install chromium"):
        pdf.browser()


@pytest.mark.browser
def test_each_paper_is_printed_on_a_sheet_of_its_own(tmp_path):
    page = tmp_path / "papers.html"
    page.write_text(sheets.page(PAPERS, "Sheets"), encoding="utf-8")
    pdf.print_pdf(page, tmp_path / "papers.pdf")
    printed = (tmp_path / "papers.pdf").read_bytes()
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b(?!s)", printed)) == 2
