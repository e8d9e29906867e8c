"""A list of the class and what was handed in are compared, and nobody is guessed."""

import unicodedata

import pytest
from classes import NAME, outcome
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.errors import UnreadableSheetError
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import standing
from course_grader.lms import records
from course_grader.lms.records import Record
from course_grader.lms.roster import Person, compare, folders, read
from course_grader.submissions import submissions

ADA = Person("ada.lovelace", "Lovelace", "Ada", "ada@example.org")
BEN = Person("ben", "Okri", "Ben", "ben@example.org")
KIM = Person("kim1", "Lee", "Kim", "kim@example.org", "77")
KIM2 = Person("kim2", "Lee", "Kim", "kim2@example.org", "78")


def test_account_number_and_a_name_that_one_has_are_sure():
    found = {
        "ben": Record(),
        "kimlee_77": Record("canvas", "77", "kimlee"),
        "Ada_Lovelace": Record("moodle", "5", "Ada Lovelace"),
    }
    done = compare([ADA, BEN, KIM, KIM2], found, {})
    assert done.surely == {"ben": BEN, "kimlee_77": KIM, "Ada_Lovelace": ADA}
    assert done.by_name == ["Ada_Lovelace"]
    assert done.absent == [KIM2]
    assert done.nobodys == {}


@pytest.mark.parametrize("folder", ["lovelace_ada_1234", "lovelaceada_1234", "Lovelace Áda"])
def test_what_looks_alike_is_shown_and_not_taken(folder):
    done = compare([ADA, BEN], {folder: Record()}, {})
    assert done.surely == {}
    assert [person for person, _ in done.nobodys[folder]] == [ADA]
    assert done.absent == [ADA, BEN]


def test_accents_count_as_the_same_however_they_are_stored(tmp_path, entered):
    decomposed = unicodedata.normalize("NFD", "zoë")
    table = tmp_path / "roster.csv"
    table.write_text(f"id,last_name,first_name\n{decomposed},Ngo,Zoë\n", encoding="utf-8")
    for name in (decomposed, unicodedata.normalize("NFD", "ada é")):
        (entered.submitted / name / NAME).mkdir(parents=True)
    found = folders(entered, [NAME])
    assert set(found) == {"zoë", "ada é"}
    people = read(table)
    assert compare(people, found, {}).surely == {"zoë": people[0]}
    assert compare(people, found, {decomposed: decomposed}).surely == {"zoë": people[0]}
    assert [one.student for one in submissions(entered, NAME, [decomposed])] == ["zoë"]


def test_two_folders_whose_names_look_the_same_are_told_apart_by_a_person(entered):
    decomposed = unicodedata.normalize("NFD", "zoë")
    for name in ("zoë", decomposed):
        (entered.submitted / name / NAME).mkdir(parents=True)
    one, other = sorted(submissions(entered, NAME), key=lambda each: each.twin)
    assert (one.student, one.folder.parent.name, one.misnamed) == ("zoë", "zoë", "")
    assert "keep one" in other.misnamed


def test_name_that_two_have_is_neithers():
    done = compare([KIM, KIM2], {"Kim_Lee": Record("moodle", "5", "Kim Lee")}, {})
    assert done.surely == {}
    assert {person.id for person, _ in done.nobodys["Kim_Lee"]} == {"kim1", "kim2"}
    assert done.doubts.keys() == {"kim1", "kim2"}


def test_what_a_person_decided_counts_and_is_checked():
    found = {"lovelace_ada_1234": Record(), "ben": Record()}
    done = compare([ADA, BEN], found, {"lovelace_ada_1234": "ada.lovelace"})
    assert (done.surely["lovelace_ada_1234"], done.absent) == (ADA, [])
    for same, said in (
        ({"lovelace_ada_123": "ada.lovelace"}, "did you mean lovelace_ada_1234"),
        ({"lovelace_ada_1234": "ada.lovelac"}, "did you mean ada.lovelace"),
        ({"lovelace_ada_1234": "ben", "ben": "ben"}, "two folders"),
    ):
        with pytest.raises(UnreadableSheetError, match=said):
            compare([ADA, BEN], found, same)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"name\nAda\n", "no column id; it has name"),
        (b"id;last_name\nada;Lovelace\n", "separated by commas"),
        (b"id\nada\nada\n", "line 3: the id 'ada' is on another line"),
        (b"id,email\n,ada@example.org\n", "line 2: the id is empty"),
        (b"id,last_name\n", "names nobody"),
        (b"id,last_name\nada,L\xf6velace\n", r"is not UTF-8 CSV .* export it as CSV"),
        (b"PK\x03\x04\x14\0\xa1\xf7", "spreadsheet program's own file: save or export it as CSV"),
    ],
)
def test_list_that_is_wrong_is_named_with_the_remedy(tmp_path, text, said):
    path = tmp_path / "students.csv"
    path.write_bytes(text)
    with pytest.raises(UnreadableSheetError, match=said):
        read(path)


def test_command_enters_those_who_are_sure_and_nobody_else(entered, tmp_path):
    for student in ("lovelace_ada_1234", "ben"):
        (entered.submitted / student / NAME).mkdir(parents=True)
    records.write(entered, NAME, {"lovelace_ada_1234": Record("canvas", "1234", "lovelace_ada")})
    with Recorder(entered) as recorder:
        recorder.record(outcome(entered, "lovelace_ada_1234"), "key")
    path = tmp_path / "students.csv"
    path.write_text(
        "\ufeffid,last_name,first_name,email\nada.lovelace,Lovelace,Ada,ada@example.org\n"
        "ben,Okri,Ben,\nzoe,Zed,Zoe,\n"
    )

    def run(*more):
        return CliRunner().invoke(
            app,
            ["roster", str(path), "--course", str(entered.root), *more],
            env={"COLUMNS": "200"},
        )

    done = run("--write")
    assert done.exit_code == 1
    assert "lovelace_ada_1234  ada.lovelace (Ada Lovelace)" in done.output
    found = {one.student: one for one in standing(entered, NAME).students}
    assert (found["ben"].last_name, found["lovelace_ada_1234"].last_name) == ("Okri", "")
    done = run("--same", "lovelace_ada_1234=ada.lovelace", "--write")
    found = {one.student: one for one in standing(entered, NAME).students}
    assert found["lovelace_ada_1234"].email == "ada@example.org"
    assert "zoe" in done.output
    assert found.keys() == {"ben", "lovelace_ada_1234"}
    assert run("--same", "ada").exit_code == 2


def test_folders_of_all_assignments_count_once(entered):
    (entered.submitted / "ada" / NAME).mkdir(parents=True)
    assert folders(entered, [NAME, "02-affinities"]).keys() == {"ada"}
