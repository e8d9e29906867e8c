"""`course collect`: whatever a platform or a person gives, the right notebook lands, unchanged."""

import pytest
from submitted_files import NAME, a_notebook, by_student, collected, everything, moodle, packed, put
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.errors import NothingToCollectError
from course_grader.lms.collect import Action, collect

PLACES = {
    "a folder each": f"ada/{NAME}.ipynb",
    "nbgrader's own layout": f"ada/{NAME}/{NAME}.ipynb",
    "renamed": "ada/my homework (final).ipynb",
    "nested": f"ada/homework/week 1/{NAME}.ipynb",
    "a notebook each": "ada.ipynb",
    "a notebook each, named twice": f"ada_{NAME}.ipynb",
    "all in one folder": f"submissions/ada/{NAME}.ipynb",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_one_notebook_is_found_wherever_it_lies(course, inbox, place, form):
    content = a_notebook(place)
    if form == "folder":
        source = inbox
        put(inbox / place, content)
        put(inbox / "__MACOSX" / "ada" / "._junk.ipynb", b"junk")
    else:
        source = put(inbox / "download.zip", packed((place, content)))
    (one,) = collect(course, NAME, [source])
    assert (one.student, one.action) == ("ada", Action.NEW)
    assert collected(course, "ada") == content


@pytest.mark.parametrize("ending", [".json", ".txt", ".download", ".TXT"])
def test_notebook_that_a_browser_named_otherwise_is_one(course, inbox, ending):
    put(inbox / "ada" / f"{NAME}.ipynb{ending}", a_notebook("renamed"))
    put(inbox / "ada" / "notes.txt", b"to do")
    (one,) = collect(course, NAME, [inbox])
    assert (one.student, one.action) == ("ada", Action.NEW)
    assert collected(course, "ada") == a_notebook("renamed")
    assert f"renamed from {NAME}.ipynb{ending}" in one.notes


def test_newer_upload_counts_whatever_a_browser_named_it(course, inbox):
    put(inbox / f"adalovelace_12_100_{NAME}.ipynb", a_notebook("older"))
    put(inbox / f"adalovelace_12_101_{NAME}.ipynb.txt", a_notebook("newer"))
    (one,) = collect(course, NAME, [inbox])
    assert collected(course, one.student) == a_notebook("newer")


def test_zip_of_a_student_is_opened(course, inbox):
    inner = packed((f"homework/{NAME}.ipynb", a_notebook("zipped")), ("homework/data.csv", "1,2"))
    source = put(inbox / "download.zip", packed(("ada.zip", inner), ("ben/hand in.zip", inner)))
    found = by_student(collect(course, NAME, [source]))
    assert {name: one.action for name, one in found.items()} == {
        "ada": Action.NEW,
        "ben": Action.NEW,
    }
    assert collected(course, "ben") == a_notebook("zipped")


WRONG_FILES = {
    "essay.pdf": ["ada/essay.pdf"],
    "homework.7z": ["ada/homework.7z"],
    "homework.tar.gz": ["ada_1_2_homework.tar.gz"],
    "ada.pdf": ["ada.pdf"],
    "data.csv, onlinetext.html": [
        "Ada_1_assignsubmission_file_/data.csv",
        "Ada_1_assignsubmission_onlinetext_/onlinetext.html",
    ],
}


@pytest.mark.parametrize(("named", "paths"), WRONG_FILES.items(), ids=WRONG_FILES)
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_student_without_a_notebook_is_named_and_told_what_to_ask_for(
    course, inbox, named, paths, form
):
    bens = {"A": f"{moodle('Ben', 2)}/{NAME}.ipynb", "ada_1": f"ben_3_4_{NAME}.ipynb"}
    beside = next((path for start, path in bens.items() if paths[0].startswith(start)), "")
    ben = (beside or f"ben/{NAME}.ipynb", a_notebook("ben"))
    files = [*((path, b"no notebook") for path in paths), ben]
    if form == "zip":
        source = put(inbox / "download.zip", packed(*files))
    else:
        source = inbox
        for path, content in files:
            put(inbox / path, content)
    ada, ben = collect(course, NAME, [source])
    assert (ada.student.lower()[:3], ada.action) == ("ada", Action.REFUSED)
    assert ada.notes == (f"no notebook in {named}; ask for {NAME}.ipynb, alone or in a .zip",)
    assert (ben.student.lower()[:3], ben.action) == ("ben", Action.NEW)


def test_files_beside_a_notebook_are_nobodys_mistake(course, inbox):
    put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
    put(inbox / "ada" / "picture.png", b"x")
    put(inbox / "ben" / "all.zip", packed(("notes.pdf", b"x")))
    ada, ben = collect(course, NAME, [inbox])
    assert (ada.action, ada.notes) == (Action.NEW, ())
    assert "no notebook in all.zip" in ben.notes[0]


def test_what_was_handed_in_is_never_modified(course, inbox):
    put(inbox / "ada" / f"{NAME}.ipynb", b'{"broken": ')
    put(inbox / "ben.zip", packed((f"{NAME}.ipynb", a_notebook("mine"))))
    before = everything(inbox)
    collect(course, NAME, [inbox])
    assert everything(inbox) == before
    assert collected(course, "ada") == b'{"broken": '


def test_dry_run_writes_nothing(course, inbox):
    put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
    assert collect(course, NAME, [inbox], dry_run=True)[0].action is Action.NEW
    assert not course.submitted.exists()


def test_other_assignments_in_the_same_folder_are_left(course, inbox):
    put(inbox / "ada" / NAME / f"{NAME}.ipynb", a_notebook("mine"))
    put(inbox / "ada" / "04-bigram" / "04-bigram.ipynb", a_notebook("other"))
    collect(course, NAME, [inbox])
    assert collected(course, "ada") == a_notebook("mine")


def test_what_is_no_download_is_said(course, inbox):
    for source in (inbox / "missing.zip", put(inbox / "text.zip", b"no zip"), inbox / "empty"):
        source.mkdir() if source.name == "empty" else None
        with pytest.raises(NothingToCollectError, match=source.name):
            collect(course, NAME, [source])


def test_command_names_what_is_refused_and_exits_with_1(course, inbox):
    put(inbox / "eve.zip", packed(("../x.ipynb", b"x")))
    put(inbox / "fay" / "essay.pdf", b"x")
    put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
    done = CliRunner().invoke(app, ["collect", "01", str(inbox), "--course", str(course.root)])
    assert done.exit_code == 1
    said = " ".join(done.output.split())
    assert "climbs out" in said
    assert "2 refused" in said
    assert [path.name for path in (course.submitted / "ada" / NAME).iterdir()] == [f"{NAME}.ipynb"]
