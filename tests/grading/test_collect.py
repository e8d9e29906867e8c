"""`course collect`: whatever a platform or a person gives, the right notebook lands, unchanged."""

import io
import json
import os
import stat
import time
import zipfile
from datetime import UTC, datetime

import nbformat
import pytest
from typer.testing import CliRunner

from course_lib.cli import app
from course_lib.errors import NothingToCollect
from course_lib.grading.collecting import downloads
from course_lib.grading.collecting.collect import Action, collect
from course_lib.grading.collecting.owners import as_folder, origins

NAME = "01-averages"


@pytest.fixture
def inbox(tmp_path):
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


def a_notebook(words, grade_id=None):
    """Bytes of a notebook that says something; with a cell that nbgrader knows, if named."""
    cell = nbformat.v4.new_code_cell(words, id="said")
    if grade_id:
        cell.metadata["nbgrader"] = {"grade_id": grade_id}
    return nbformat.writes(nbformat.v4.new_notebook(cells=[cell])).encode()


def put(path, content, when=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if when is not None:
        os.utime(path, (when, when))
    return path


def packed(*entries, method=zipfile.ZIP_DEFLATED):
    """Bytes of a zip of (name, content) or (ZipInfo, content)."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return file.getvalue()


def by_student(found):
    return {one.student: one for one in found}


def collected(course, student):
    return (course.submitted / student / NAME / f"{NAME}.ipynb").read_bytes()


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


def test_zip_of_a_student_is_opened(course, inbox):
    inner = packed((f"homework/{NAME}.ipynb", a_notebook("zipped")), ("homework/data.csv", "1,2"))
    source = put(inbox / "download.zip", packed(("ada.zip", inner), ("ben/hand in.zip", inner)))
    found = by_student(collect(course, NAME, [source]))
    assert {name: one.action for name, one in found.items()} == {
        "ada": Action.NEW,
        "ben": Action.NEW,
    }
    assert collected(course, "ben") == a_notebook("zipped")


class TestPlatforms:
    def test_canvas_names_give_student_number_and_late_mark(self, course, inbox):
        content = a_notebook("canvas")
        archive = packed(
            (f"lovelace_ada_1234_5678_{NAME}.ipynb", content),
            (f"hopper_grace_LATE_1235_5679_{NAME}-1.ipynb", content),
        )
        found = by_student(collect(course, NAME, [put(inbox / "submissions.zip", archive)]))
        assert set(found) == {"lovelace_ada_1234", "hopper_grace_1235"}
        assert "late" in " ".join(found["hopper_grace_1235"].notes)
        known = origins(course, NAME)["hopper_grace_1235"]
        assert (known["platform"], known["number"], known["late"]) == ("canvas", "1235", True)

    def test_moodle_folders_give_the_full_name_and_the_number(self, course, inbox):
        archive = packed(
            (f"Ada Lovelace_12345_assignsubmission_file_/{NAME}.ipynb", a_notebook("ada")),
            (f"Zoë Müller_12346_assignsubmission_file_/x/{NAME}.ipynb", a_notebook("zoë")),
        )
        found = by_student(collect(course, NAME, [put(inbox / "moodle.zip", archive)]))
        assert set(found) == {"Ada_Lovelace", "Zoë_Müller"}
        assert origins(course, NAME)["Ada_Lovelace"]["number"] == "12345"
        assert collected(course, "Zoë_Müller") == a_notebook("zoë")

    def test_two_people_of_one_name_are_told_apart(self, course, inbox):
        archive = packed(
            *(
                (f"Kim Lee_{number}_assignsubmission_file_/{NAME}.ipynb", a_notebook(number))
                for number in ("1", "2")
            )
        )
        found = by_student(collect(course, NAME, [put(inbox / "moodle.zip", archive)]))
        assert set(found) == {"Kim_Lee_1", "Kim_Lee_2"}
        assert collected(course, "Kim_Lee_2") == a_notebook("2")

    def test_names_that_would_share_a_folder_are_refused_not_merged(self, course, inbox):
        put(inbox / "a b" / f"{NAME}.ipynb", a_notebook("one"))
        put(inbox / "a_b" / f"{NAME}.ipynb", a_notebook("other"))
        assert {one.action for one in collect(course, NAME, [inbox])} == {Action.REFUSED}
        assert not (course.submitted / "a_b").exists()


class TestSeveral:
    def test_latest_of_several_counts_and_it_is_said(self, course, inbox):
        now = time.time()
        put(inbox / "ada" / f"{NAME} (1).ipynb", a_notebook("late"), now)
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("early"), now - 1000)
        (one,) = collect(course, NAME, [inbox])
        assert collected(course, "ada") == a_notebook("late")
        assert "2 versions; the latest counts" in one.notes[0]

    def test_other_notebooks_beside_the_named_one_do_not_count(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"), time.time() - 1000)
        put(inbox / "ada" / "scratch.ipynb", a_notebook("scratch"))
        collect(course, NAME, [inbox])
        assert collected(course, "ada") == a_notebook("mine")

    def test_of_unnamed_ones_that_with_graded_cells_counts(self, course, inbox):
        put(inbox / "ada" / "first.ipynb", a_notebook("mine", "check-window"))
        put(inbox / "ada" / "second.ipynb", a_notebook("scratch"))
        collect(course, NAME, [inbox])
        assert collected(course, "ada") == a_notebook("mine", "check-window")

    def test_nobody_guesses_between_two_that_could_be_it(self, course, inbox):
        put(inbox / "ada" / "first.ipynb", a_notebook("one"))
        put(inbox / "ada" / "second.ipynb", a_notebook("other"))
        (one,) = collect(course, NAME, [inbox])
        assert one.action is Action.REFUSED
        assert "first.ipynb, second.ipynb" in one.notes[0]

    def test_newer_one_replaces_and_the_older_one_is_kept(self, course, inbox):
        now = time.time()
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("early"), now - 1000)
        collect(course, NAME, [inbox])
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("late"), now)
        assert collect(course, NAME, [inbox])[0].action is Action.REPLACED
        assert collected(course, "ada") == a_notebook("late")
        kept = course.submitted / ".replaced" / "ada" / f"{NAME}.1" / f"{NAME}.ipynb"
        assert kept.read_bytes() == a_notebook("early")

    def test_older_one_does_not_replace(self, course, inbox):
        now = time.time()
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("late"), now)
        collect(course, NAME, [inbox])
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("early"), now - 1000)
        assert collect(course, NAME, [inbox])[0].action is Action.KEPT
        assert collected(course, "ada") == a_notebook("late")

    def test_collecting_again_changes_nothing(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        collect(course, NAME, [inbox])
        before = everything(course.submitted)
        assert collect(course, NAME, [inbox])[0].action is Action.UNCHANGED
        assert everything(course.submitted) == before


def everything(folder):
    return {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


class TestTime:
    def test_time_of_the_file_is_kept_for_nbgrader(self, course, inbox):
        when = datetime(2026, 3, 1, 10, 0, 5, tzinfo=UTC)
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"), when.timestamp())
        collect(course, NAME, [inbox])
        stamp = course.submitted / "ada" / NAME / "timestamp.txt"
        assert stamp.read_text() == "2026-03-01 10:00:05 UTC\n"

    def test_unix_time_of_an_archive_is_preferred_to_its_local_one(self, course, inbox):
        entry = zipfile.ZipInfo(f"ada/{NAME}.ipynb", (2020, 1, 1, 0, 0, 0))
        seconds = int(datetime(2026, 3, 1, 10, 0, 5, tzinfo=UTC).timestamp())
        entry.extra = b"\x55\x54\x05\x00\x01" + seconds.to_bytes(4, "little")
        source = put(inbox / "download.zip", packed((entry, a_notebook("mine"))))
        assert collect(course, NAME, [source])[0].timestamp == datetime(2026, 3, 1, 10, 0, 5)

    def test_time_that_nobody_knows_is_not_invented(self, course, inbox):
        entry = zipfile.ZipInfo(f"ada/{NAME}.ipynb", (1980, 1, 1, 0, 0, 0))
        source = put(inbox / "download.zip", packed((entry, a_notebook("mine"))))
        assert collect(course, NAME, [source])[0].timestamp is None
        assert not (course.submitted / "ada" / NAME / "timestamp.txt").exists()


def a_link(name, target):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry, target


BOMB = b"0" * 50 * downloads.MEGABYTE
HOSTILE = {
    "climbs out": [("../../gradebook.ipynb", b"x")],
    "absolute path": [("/etc/cron.d/x.ipynb", b"x")],
    "a link": [a_link(f"{NAME}.ipynb", "/etc/passwd")],
    "times its size": [(f"{NAME}.ipynb", BOMB)],
    "entries": [(f"{number}.txt", b"") for number in range(downloads.MOST_ENTRIES + 1)],
    "another archive": [("inner.zip", packed((f"{NAME}.ipynb", b"x")))],
}


class TestHostile:
    @pytest.mark.parametrize("reason", HOSTILE)
    def test_archive_of_a_student_is_refused_with_the_reason(self, course, inbox, reason):
        put(inbox / "eve.zip", packed(*HOSTILE[reason]))
        put(inbox / "honest" / f"{NAME}.ipynb", a_notebook("mine"))
        found = by_student(collect(course, NAME, [inbox]))
        assert found["eve"].action is Action.REFUSED
        assert reason in found["eve"].notes[0]
        assert found["honest"].action is Action.NEW
        written = [path.name for path in course.submitted.iterdir()]
        assert written == ["honest"]

    @pytest.mark.parametrize("reason", ["climbs out", "absolute path", "a link", "times its size"])
    def test_entry_of_a_download_is_refused_and_the_others_are_taken(self, course, inbox, reason):
        (entry, content) = HOSTILE[reason][0]
        entries = [(entry, content), (f"honest/{NAME}.ipynb", a_notebook("mine"))]
        found = collect(course, NAME, [put(inbox / "download.zip", packed(*entries))])
        assert by_student(found)["honest"].action is Action.NEW
        assert [one.action for one in found].count(Action.REFUSED) == 1
        assert reason in " ".join(note for one in found for note in one.notes)

    def test_size_that_an_archive_lies_about_is_found_out(self, course, inbox, monkeypatch):
        monkeypatch.setattr(downloads, "MOST_NOTEBOOK_BYTES", 1000)
        put(inbox / "eve.zip", packed((f"{NAME}.ipynb", os.urandom(5000))))
        (one,) = collect(course, NAME, [inbox])
        assert one.action is Action.REFUSED
        assert "more than" in one.notes[0]

    def test_broken_and_encrypted_archives_are_refused(self, course, inbox):
        whole = bytearray(packed((f"{NAME}.ipynb", a_notebook("mine"))))
        put(inbox / "cut.zip", bytes(whole[: len(whole) // 2]))
        locked = whole.copy()
        locked[whole.index(b"PK\x01\x02") + 8] |= 1
        put(inbox / "locked.zip", bytes(locked))
        found = by_student(collect(course, NAME, [inbox]))
        assert "not a whole zip" in found["cut"].notes[0]
        assert "encrypted" in found["locked"].notes[0]

    def test_links_in_a_folder_are_not_followed(self, course, inbox, tmp_path):
        secret = put(tmp_path / "secret.ipynb", a_notebook("secret"))
        (inbox / "eve").mkdir()
        (inbox / "eve" / f"{NAME}.ipynb").symlink_to(secret)
        (inbox / "mal").symlink_to(tmp_path)
        found = collect(course, NAME, [inbox])
        assert {one.action for one in found} == {Action.REFUSED}
        assert not course.submitted.exists()

    def test_nothing_is_written_through_a_link(self, course, inbox, tmp_path):
        course.submitted.mkdir()
        (course.submitted / "ada").symlink_to(tmp_path)
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        assert collect(course, NAME, [inbox])[0].action is Action.REFUSED
        assert not (tmp_path / NAME).exists()

    @pytest.mark.parametrize("name", ["..", "=cmd()", "a/b", "x" * 500, "  ", "<b>", ".hidden"])
    def test_names_become_safe_folders(self, name):
        safe = as_folder(name)
        assert safe
        assert len(safe) <= 100
        assert not set(safe) & set("/\\=<>'\"`$ \n")
        assert safe[0] not in ".-+@"


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
    files = [*((path, b"no notebook") for path in paths), (f"ben/{NAME}.ipynb", a_notebook("ben"))]
    if form == "zip":
        source = put(inbox / "download.zip", packed(*files))
    else:
        source = inbox
        for path, content in files:
            put(inbox / path, content)
    ada, ben = collect(course, NAME, [source])
    assert (ada.student.lower()[:3], ada.action) == ("ada", Action.REFUSED)
    assert ada.notes == (f"no notebook in {named}; ask for {NAME}.ipynb, alone or in a .zip",)
    assert (ben.student, ben.action) == ("ben", Action.NEW)


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
        with pytest.raises(NothingToCollect, match=source.name):
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
    assert json.loads((course.submitted / "ada" / NAME / "collected.json").read_text())["name"]
