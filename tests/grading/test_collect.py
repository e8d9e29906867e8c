"""`course collect`: whatever a platform or a person gives, the right notebook lands, unchanged."""

import bz2
import io
import json
import os
import random
import shutil
import stat
import struct
import subprocess
import sys
import zipfile
from datetime import datetime

import nbformat
import pytest
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.errors import (
    NothingToCollectError,
    ReplacementNotConfirmedError,
    UnreadableSheetError,
)
from course_grader.lms import archives, downloads, entries, records
from course_grader.lms.collect import Action, collect
from course_grader.lms.owners import as_folder
from course_grader.submissions import submissions

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


def moodle(name, number):
    """A folder as Moodle names it."""
    return f"{name}_{number}_assignsubmission_file_"


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
        known = records.read(course, NAME)["hopper_grace_1235"]
        assert (known.platform, known.number, known.late) == ("canvas", "1235", True)

    def test_moodle_folders_give_the_full_name_and_the_number(self, course, inbox):
        archive = packed(
            (f"Ada Lovelace_12345_assignsubmission_file_/{NAME}.ipynb", a_notebook("ada")),
            (f"Zoë Müller_12346_assignsubmission_file_/x/{NAME}.ipynb", a_notebook("zoë")),
        )
        found = by_student(collect(course, NAME, [put(inbox / "moodle.zip", archive)]))
        assert set(found) == {"Ada_Lovelace", "Zoë_Müller"}
        assert records.read(course, NAME)["Ada_Lovelace"].number == "12345"
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


class TestWho:
    """Whose a submission is, the platform's part of a download says, and nothing below it."""

    def test_moodle_student_cannot_hand_in_for_others(self, course, inbox):
        class_of_two = [
            (f"{moodle(name, number)}/{NAME}.ipynb", a_notebook(name))
            for name, number in (("Ada", "1"), ("Ben", "2"))
        ]
        collect(course, NAME, [put(inbox / "class.zip", packed(*class_of_two))])
        evil = [(f"{moodle('Eve', '3')}/{path}", a_notebook("evil")) for path, _ in class_of_two]
        (one,) = collect(course, NAME, [put(inbox / "eve.zip", packed(*evil))])
        assert one.student == "Eve"
        assert collected(course, "Ada") == a_notebook("Ada")
        assert collected(course, "Ben") == a_notebook("Ben")

    @pytest.mark.parametrize("form", ["folder", "zip"])
    def test_only_student_of_a_folder_cannot_hand_in_for_others(self, course, inbox, form):
        paths = [f"eve/{name}/{NAME}.ipynb" for name in ("ada", "ben")]
        source = inbox
        if form == "zip":
            source = put(inbox / "x.zip", packed(*((path, a_notebook(path)) for path in paths)))
        else:
            for path in paths:
                put(inbox / path, a_notebook(path))
        (one,) = collect(course, NAME, [source])
        assert (one.student, one.action) == ("eve", Action.REFUSED)
        assert "taken for one student" in " ".join(one.notes)
        assert not course.submitted.exists()

    def test_archive_inside_a_submission_names_nobody(self, course, inbox):
        inner = packed(
            *((f"{moodle(name, 1)}/{NAME}.ipynb", a_notebook("evil")) for name in ("Ada", "Ben"))
        )
        put(inbox / moodle("Eve", "3") / "submissions.zip", inner)
        put(inbox / moodle("Ada", "1") / f"{NAME}.ipynb", a_notebook("ada"))
        assert set(by_student(collect(course, NAME, [inbox]))) == {"Ada", "Eve"}
        assert collected(course, "Ada") == a_notebook("ada")

    def test_moodle_file_cannot_be_named_as_another_students(self, course, inbox):
        archive = packed(
            (f"{moodle('Eve', 66)}Ada_55_assignsubmission_file_{NAME}.ipynb", a_notebook("eve")),
            (f"{moodle('Ben', 67)}{NAME}.ipynb", a_notebook("ben")),
        )
        found = by_student(collect(course, NAME, [put(inbox / "flat.zip", archive)]))
        assert set(found) == {"Ben", "Eve"}
        assert records.read(course, NAME)["Eve"].number == "66"

    @pytest.mark.parametrize(
        "name",
        [
            # the student is user 6666, and calls herself so
            f"lovelaceada_1111_6666_777_{NAME}.ipynb",
            f"lovelaceada_1111_1__6666_777_{NAME}.ipynb",
            # the student is user 6666, and calls the file so
            f"eve_6666_777_lovelaceada_1111_888_{NAME}.ipynb",
        ],
    )
    def test_canvas_name_that_can_be_read_in_two_ways_is_nobodys(self, course, inbox, name):
        archive = packed((name, a_notebook("?")), (f"ben_3_4_{NAME}.ipynb", a_notebook("ben")))
        found = by_student(collect(course, NAME, [put(inbox / "canvas.zip", archive)]))
        assert found.pop("ben_3").action is Action.NEW
        ((_, one),) = found.items()
        assert one.action is Action.REFUSED
        assert "user 6666" in one.notes[0]
        assert [path.name for path in course.submitted.glob("[!.]*")] == ["ben_3"]

    @pytest.mark.parametrize("name", ["निशा", "นภา", "李明", "müllerzoë"])
    def test_names_of_all_scripts_are_read_and_kept(self, course, inbox, name):
        archive = packed((f"{name}_1_2_{NAME}.ipynb", a_notebook("mine")))
        (one,) = collect(course, NAME, [put(inbox / "canvas.zip", archive)])
        assert (one.student, one.action) == (f"{name}_1", Action.NEW)
        assert as_folder(name) == name

    @pytest.mark.parametrize("own", [f"01_{NAME}.ipynb", f"hw-2_3_{NAME}.ipynb"])
    def test_canvas_name_that_can_be_read_in_one_way_is_taken(self, course, inbox, own):
        source = put(inbox / "canvas.zip", packed((f"ada_1_2_{own}", a_notebook("ada"))))
        (one,) = collect(course, NAME, [source])
        assert (one.student, one.notes) == ("ada_1", (f"renamed from {own}",))

    def test_mixture_is_said_and_nothing_is_taken(self, course, inbox):
        put(inbox / moodle("Ada", 1) / f"{NAME}.ipynb", a_notebook("ada"))
        put(inbox / "ben" / f"{NAME}.ipynb", a_notebook("ben"))
        with pytest.raises(NothingToCollectError, match=r"mixture.*folder of its own"):
            collect(course, NAME, [inbox])
        assert not course.submitted.exists()

    def test_what_does_not_fit_a_platforms_download_is_refused_alone(self, course, inbox):
        for number, name in enumerate(("Ada", "Ben"), 1):
            put(inbox / moodle(name, number) / f"{NAME}.ipynb", a_notebook(name))
        put(inbox / "Worksheet.csv", b"Identifier,Grade")
        put(inbox / "Cem" / f"{NAME}.ipynb", a_notebook("cem"))
        found = by_student(collect(course, NAME, [inbox]))
        assert {name for name, one in found.items() if one.action is Action.NEW} == {"Ada", "Ben"}
        assert "not named as the rest" in found["Cem"].notes[0]
        assert "not named as the rest" in found["Worksheet.csv"].notes[0]

    def test_display_name_of_another_student_takes_no_folder(self, course, inbox):
        first = packed((f"{moodle('Ada', 1)}/{NAME}.ipynb", a_notebook("ada")))
        later = packed((f"{moodle('Ada', 666)}/{NAME}.ipynb", a_notebook("eve")))
        collect(course, NAME, [put(inbox / "a.zip", first)])
        (one,) = collect(course, NAME, [put(inbox / "b.zip", later)])
        assert (one.student, one.action) == ("Ada_666", Action.NEW)
        assert collected(course, "Ada") == a_notebook("ada")

    def test_student_who_changed_the_name_keeps_the_folder(self, course, inbox):
        first = packed((f"{moodle('Ada Byron', 1)}/{NAME}.ipynb", a_notebook("early")))
        later = packed((f"{moodle('Ada King', 1)}/{NAME}.ipynb", a_notebook("late")))
        collect(course, NAME, [put(inbox / "a.zip", first)])
        (one,) = collect(course, NAME, [put(inbox / "b.zip", later)])
        assert (one.student, one.action) == ("Ada_Byron", Action.REPLACED)

    @pytest.mark.parametrize(
        "names",
        [
            ("Kim Lee", "Kim Lee", "Kim Lee 1", "Kim Lee 2"),
            ("kim lee", "Kim Lee", "KIM LEE"),
            ("Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}", "Zoe\N{COMBINING DIAERESIS}", "Zoe"),
            ("x" * 120, "x" * 121),
            (NAME, "04-bigram", "..", "."),
        ],
    )
    def test_students_never_share_a_folder(self, course, inbox, names):
        archive = packed(
            *(
                (f"{moodle(name, number)}/{NAME}.ipynb", a_notebook(str(number)))
                for number, name in enumerate(names, 1)
            )
        )
        source = put(inbox / "moodle.zip", archive)
        for action in (Action.NEW, Action.UNCHANGED):
            found = collect(course, NAME, [source])
            assert {one.action for one in found} == {action}
            known = records.read(course, NAME)
            assert len({one.student.casefold() for one in found}) == len(names)
            for one in found:
                assert collected(course, one.student) == a_notebook(known[one.student].number)
        assert not {one.student for one in found} & set(course.assignments)

    def test_person_who_names_a_folder_after_a_student_means_that_student(self, course, inbox):
        first = packed((f"{moodle('Ada', 1)}/{NAME}.ipynb", a_notebook("early")))
        collect(course, NAME, [put(inbox / "a.zip", first)])
        put(inbox / "mail" / "Ada" / f"{NAME}.ipynb", a_notebook("late"))
        (one,) = collect(course, NAME, [inbox / "mail"])
        assert (one.student, one.action) == ("Ada", Action.REPLACED)
        assert records.read(course, NAME)["Ada"].number == "1"


class TestSeveral:
    def test_last_upload_to_canvas_counts_and_it_is_said(self, course, inbox):
        archive = packed(
            (f"ada_1_99_{NAME}-1.ipynb", a_notebook("late")),
            (f"ada_1_7_{NAME}.ipynb", a_notebook("early")),
        )
        (one,) = collect(course, NAME, [put(inbox / "canvas.zip", archive)])
        assert collected(course, "ada_1") == a_notebook("late")
        assert "2 versions" in one.notes[0]
        assert "last upload" in one.notes[0]

    def test_times_that_a_student_set_decide_nothing(self, course, inbox):
        put(inbox / "ada" / f"{NAME} (1).ipynb", a_notebook("newer"), 2_000_000_000)
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("named"), 1_000_000_000)
        (one,) = collect(course, NAME, [inbox])
        assert collected(course, "ada") == a_notebook("named")
        assert "2 versions" in one.notes[0]

    def test_nobody_guesses_between_two_of_the_same_name(self, course, inbox):
        for folder in ("a", "b"):
            put(inbox / "ada" / folder / f"{NAME}.ipynb", a_notebook(folder))
        (one,) = collect(course, NAME, [inbox])
        assert one.action is Action.REFUSED
        assert f"a/{NAME}.ipynb, b/{NAME}.ipynb" in one.notes[0]

    def test_download_that_is_named_last_counts(self, course, inbox):
        sources = []
        for folder in ("z-early", "a-late"):
            put(inbox / folder / "ada" / f"{NAME}.ipynb", a_notebook(folder))
            sources.append(inbox / folder)
        collect(course, NAME, sources)
        assert collected(course, "ada") == a_notebook("a-late")

    def test_other_notebooks_beside_the_named_one_do_not_count(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        put(inbox / "ada" / "scratch.ipynb", a_notebook("scratch"))
        collect(course, NAME, [inbox])
        assert collected(course, "ada") == a_notebook("mine")

    def test_of_unnamed_ones_that_with_graded_cells_counts(self, course, inbox):
        put(inbox / "ada" / "first.ipynb", a_notebook("mine", "check-window"))
        put(inbox / "ada" / "second.ipynb", a_notebook('"grade_id": "x"'))
        collect(course, NAME, [inbox])
        assert collected(course, "ada") == a_notebook("mine", "check-window")

    def test_nobody_guesses_between_two_that_could_be_it(self, course, inbox):
        put(inbox / "ada" / "first.ipynb", a_notebook("one"))
        put(inbox / "ada" / "second.ipynb", a_notebook("other"))
        (one,) = collect(course, NAME, [inbox])
        assert one.action is Action.REFUSED
        assert "first.ipynb, second.ipynb" in one.notes[0]

    def test_notebook_of_another_assignment_is_not_taken_for_this_one(self, course, inbox):
        put(inbox / "ada" / "04-bigram.ipynb", a_notebook("other", "check-counts"))
        (one,) = collect(course, NAME, [inbox])
        assert (one.action, one.notes) == (
            Action.REFUSED,
            ("04-bigram.ipynb is of another assignment",),
        )

    def test_newer_one_replaces_and_the_older_one_is_kept(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("early"))
        collect(course, NAME, [inbox])
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("late"))
        assert collect(course, NAME, [inbox])[0].action is Action.REPLACED
        assert collected(course, "ada") == a_notebook("late")
        kept = course.submitted / ".replaced" / "ada" / f"{NAME}.1" / f"{NAME}.ipynb"
        assert kept.read_bytes() == a_notebook("early")

    def test_older_upload_to_canvas_does_not_replace(self, course, inbox):
        for upload, words in ((99, "late"), (7, "early")):
            archive = packed((f"ada_1_{upload}_{NAME}.ipynb", a_notebook(words)))
            (one,) = collect(course, NAME, [put(inbox / f"{words}.zip", archive)])
        assert one.action is Action.KEPT
        assert collected(course, "ada_1") == a_notebook("late")

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


class TestReplacing:
    """The work of several students is replaced only if a person has seen whose."""

    @pytest.fixture
    def twice(self, course, inbox):
        """Two students were collected, and hand in something else."""
        for words in ("early", "late"):
            for name in ("ada", "ben"):
                put(inbox / name / f"{NAME}.ipynb", a_notebook(name + words))
            if words == "early":
                collect(course, NAME, [inbox])
        put(inbox / "cem" / f"{NAME}.ipynb", a_notebook("cem"))
        return inbox

    def test_without_a_person_nothing_is_written_and_everybody_is_named(self, course, twice):
        before = everything(course.submitted)
        with pytest.raises(ReplacementNotConfirmedError, match=r"2 students.*ada, ben.*--yes"):
            collect(course, NAME, [twice])
        assert everything(course.submitted) == before

    def test_person_sees_whose_and_decides(self, course, twice):
        before, seen = everything(course.submitted), []
        with pytest.raises(ReplacementNotConfirmedError):
            collect(course, NAME, [twice], confirm=lambda names: seen.append(names))
        assert seen == [["ada", "ben"]]
        assert everything(course.submitted) == before
        collect(course, NAME, [twice], confirm=lambda names: True)
        assert collected(course, "ben") == a_notebook("benlate")
        shelf = course.submitted / ".replaced" / "ben" / f"{NAME}.1"
        assert (shelf / f"{NAME}.ipynb").read_bytes() == a_notebook("benearly")

    def test_command_exits_with_2_and_replaces_with_yes(self, course, twice):
        command = ["collect", "01", str(twice), "--course", str(course.root)]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2
        assert "ada, ben" in " ".join(done.output.split())
        assert collected(course, "ada") == a_notebook("adaearly")
        assert CliRunner().invoke(app, [*command, "--dry-run"]).exit_code == 0
        assert collected(course, "ada") == a_notebook("adaearly")
        assert CliRunner().invoke(app, [*command, "--yes"]).exit_code == 0
        assert collected(course, "ada") == a_notebook("adalate")

    def test_work_that_lay_there_under_another_name_is_replaced_and_kept(self, course, inbox):
        put(course.submitted / "ada" / NAME / "mine.ipynb", a_notebook("by hand"))
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("new"))
        assert collect(course, NAME, [inbox])[0].action is Action.REPLACED
        kept = course.submitted / ".replaced" / "ada" / f"{NAME}.1" / "mine.ipynb"
        assert kept.read_bytes() == a_notebook("by hand")


class TestTime:
    """When something was handed in, no archive says: only a person can."""

    def stamp(self, course, student="ada"):
        path = course.submitted / student / NAME / "timestamp.txt"
        return path.read_text() if path.exists() else None

    def test_no_time_of_a_file_or_an_archive_counts(self, course, inbox):
        early = zipfile.ZipInfo(f"{NAME}.ipynb", (2001, 1, 1, 0, 0, 0))
        early.extra = b"\x55\x54\x05\x00\x01" + (10**9).to_bytes(4, "little")
        inner = packed((early, a_notebook("mine")), ("timestamp.txt", b"2001-01-01 00:00:00 UTC"))
        outer = zipfile.ZipInfo(f"{moodle('Ada', 1)}/work.zip", (2001, 1, 1, 0, 0, 0))
        put(inbox / "folder" / "ben" / f"{NAME}.ipynb", a_notebook("ben"), 10**9)
        put(inbox / "folder" / "ben" / "timestamp.txt", b"2001-01-01 00:00:00 UTC", 10**9)
        sources = [put(inbox / "moodle.zip", packed((outer, inner))), inbox / "folder"]
        found = collect(course, NAME, sources)
        assert [(one.student, one.action) for one in found] == [
            ("Ada", Action.NEW),
            ("ben", Action.NEW),
        ]
        assert {one.timestamp for one in found} == {None}
        assert not list(course.submitted.rglob("timestamp.txt"))
        assert {one.timestamp for one in submissions(course, NAME)} == {None}

    def times(self, inbox, *rows, header="student,submitted"):
        return put(inbox.parent / "times.csv", "\n".join([header, *rows, ""]).encode())

    def test_times_that_an_instructor_gives_are_kept_for_nbgrader(self, course, inbox):
        for name, number in (("Ada", 1), ("Ben", 22), ("Cem", 3)):
            put(inbox / moodle(name, number) / f"{NAME}.ipynb", a_notebook(name))
        rows = ("Ada,2026-03-01 10:00:05 UTC", "Participant 22,2026-03-01T12:00+01:00", "Cem,")
        table = self.times(inbox, *rows)
        found = by_student(collect(course, NAME, [inbox], submitted=table))
        assert found["Ada"].timestamp == datetime(2026, 3, 1, 10, 0, 5)
        assert self.stamp(course, "Ada") == "2026-03-01 10:00:05 UTC\n"
        assert self.stamp(course, "Ben") == "2026-03-01 11:00:00 UTC\n"
        assert found["Cem"].notes == ("the table of times does not say when",)
        assert self.stamp(course, "Cem") is None

    def test_name_in_the_table_that_nobody_has_is_said(self, course, inbox):
        """It may be misspelled, and its student would then never be late."""
        for name, number in (("Ada", 1), ("Ben", 22)):
            put(inbox / moodle(name, number) / f"{NAME}.ipynb", a_notebook(name))
        collect(course, NAME, [inbox])
        shutil.rmtree(inbox / moodle("Ben", 22))
        rows = [f"{name},2026-03-01 10:00 UTC" for name in ("Ada", "Participant 22", "Adda")]
        found = by_student(collect(course, NAME, [inbox], submitted=self.times(inbox, *rows)))
        assert {name: one.action.value for name, one in found.items()} == {
            "Ada": "unchanged",
            "Adda": "handed nothing in",
        }
        assert "only the table of times has this name" in found["Adda"].notes[0]

    def test_time_can_be_given_later_and_stays(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        collect(course, NAME, [inbox])
        table = self.times(inbox, "ada,2026-03-01 10:00:05Z")
        assert collect(course, NAME, [inbox], submitted=table)[0].action is Action.UNCHANGED
        assert self.stamp(course) == "2026-03-01 10:00:05 UTC\n"
        (one,) = collect(course, NAME, [inbox])
        assert one.timestamp == datetime(2026, 3, 1, 10, 0, 5)

    def test_older_one_does_not_replace(self, course, inbox):
        for words, hour in (("late", 12), ("early", 11)):
            put(inbox / "ada" / f"{NAME}.ipynb", a_notebook(words))
            table = self.times(inbox, f"ada,2026-03-01 {hour}:00 UTC")
            (one,) = collect(course, NAME, [inbox], submitted=table)
        assert one.action is Action.KEPT
        assert collected(course, "ada") == a_notebook("late")
        assert self.stamp(course) == "2026-03-01 12:00:00 UTC\n"

    @pytest.mark.parametrize(
        ("row", "words"),
        [
            ("ada,2026-03-01 10:00", "time zone"),
            ("ada,yesterday", "'yesterday' is not a time"),
            ("ada,2026-03-01 10:00Z\nada,2026-03-02 10:00Z", "two times"),
        ],
    )
    def test_time_that_can_be_misread_is_refused(self, course, inbox, row, words):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        with pytest.raises(UnreadableSheetError, match=words):
            collect(course, NAME, [inbox], submitted=self.times(inbox, row))
        assert not course.submitted.exists()

    def test_table_that_is_none_is_refused(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        for table in (self.times(inbox, "a,b", header="name,when"), inbox / "missing.csv"):
            with pytest.raises(UnreadableSheetError):
                collect(course, NAME, [inbox], submitted=table)


class TestRecords:
    """What collect knows stands where nothing that is handed in can get to."""

    def test_file_of_a_submission_is_never_taken_for_a_record(self, course, inbox):
        forged = json.dumps({"platform": "moodle", "number": "1", "name": "Ada"}).encode()
        files = [
            *((name, forged) for name in ("collected.json", f".collected/{NAME}.json")),
            (f"{NAME}.ipynb", a_notebook("eve")),
        ]
        put(inbox / moodle("Eve", 3) / "all.zip", packed(*files))
        for name, content in files:
            put(inbox / moodle("Mal", 4) / name, content)
        # as nbgrader's own commands copy what was handed in
        put(course.submitted / "hand" / NAME / "collected.json", forged)
        collect(course, NAME, [inbox])
        known = records.read(course, NAME)
        assert {name: one.number for name, one in known.items()} == {"Eve": "3", "Mal": "4"}
        assert sorted(path.name for path in course.submitted.rglob("*.json")) == [
            f"{NAME}.json",
            "collected.json",
        ]

    def test_record_that_was_changed_is_said(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        for content in (b"{", b"[]", b'{"version": 1, "students": {"ada": {"number": 1}}}'):
            put(course.submitted / ".collected" / f"{NAME}.json", content)
            with pytest.raises(NothingToCollectError, match="move it away"):
                collect(course, NAME, [inbox])

    def test_records_are_no_submissions(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        collect(course, NAME, [inbox])
        assert [one.student for one in submissions(course, NAME)] == ["ada"]


def a_link(name, target):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry, target


BOMB = b"0" * 50 * entries.MEGABYTE
HOSTILE = {
    "climbs out": [("../../gradebook.ipynb", b"x")],
    "absolute path": [("/etc/cron.d/x.ipynb", b"x")],
    "a link": [a_link(f"{NAME}.ipynb", "/etc/passwd")],
    "times its size": [(f"{NAME}.ipynb", BOMB)],
    "entries": [(f"{number}.txt", b"") for number in range(archives.MOST_ENTRIES + 1)],
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
        assert sorted(written) == [".collected", "honest"]

    @pytest.mark.parametrize("reason", ["climbs out", "absolute path", "a link", "times its size"])
    def test_entry_of_a_download_is_refused_and_the_others_are_taken(self, course, inbox, reason):
        (entry, content) = HOSTILE[reason][0]
        entries = [(entry, content), (f"honest/{NAME}.ipynb", a_notebook("mine"))]
        found = collect(course, NAME, [put(inbox / "download.zip", packed(*entries))])
        assert by_student(found)["honest"].action is Action.NEW
        assert [one.action for one in found].count(Action.REFUSED) == 1
        assert reason in " ".join(note for one in found for note in one.notes)

    def test_size_that_an_archive_lies_about_is_found_out(self, course, inbox, monkeypatch):
        monkeypatch.setattr(entries, "MOST_NOTEBOOK_BYTES", 1000)
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

    def test_folder_of_any_depth_stops_nobody(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        where = os.open(inbox, os.O_RDONLY)
        for name in ["eve", *["d"] * 1500]:
            os.mkdir(name, dir_fd=where)
            below = os.open(name, os.O_RDONLY, dir_fd=where)
            os.close(where)
            where = below
        os.close(where)
        try:
            found = by_student(collect(course, NAME, [inbox]))
        finally:
            subprocess.run(["rm", "-rf", str(inbox / "eve")], check=True)
        assert found["ada"].action is Action.NEW
        assert "deep" in found["eve"].notes[0]

    def test_folder_of_any_number_of_files_stops_nobody(self, course, inbox, monkeypatch):
        monkeypatch.setattr(downloads, "MOST_FILES", 20)
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        for number in range(21):
            put(inbox / "eve" / f"{number}.txt", b"")
        found = by_student(collect(course, NAME, [inbox]))
        assert found["ada"].action is Action.NEW
        assert "more than 20 files" in found["eve"].notes[0]

    def test_damaged_archive_of_whatever_kind_stops_nobody(self, course, inbox):
        whole = packed((f"{NAME}.ipynb", a_notebook("mine")), ("data.csv", b"1,2" * 50))
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        chance = random.Random(0)
        for number in range(300):
            damaged = bytearray(whole)
            for _ in range(chance.randint(1, 6)):
                damaged[chance.randrange(len(damaged))] = chance.choice([0, 255, 1, 127])
            put(inbox / f"eve{number}.zip", bytes(damaged[: chance.choice([None, -1, -20])]))
        found = by_student(collect(course, NAME, [inbox]))
        assert found["ada"].action is Action.NEW
        assert Action.REFUSED in {one.action for one in found.values()}

    def test_names_cannot_steer_a_terminal(self, course, inbox):
        put(inbox / "eve" / "\x1b[2J\udcff.ipynb", a_notebook("mine"))
        put(inbox / "mal" / "\x1b[2J.pdf", b"x")
        command = ["collect", "01", str(inbox), "--course", str(course.root)]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 1
        assert "\x1b[2J" not in done.output
        assert records.read(course, NAME)["eve"].file.startswith("eve/")

    @pytest.mark.parametrize("name", ["..", "=cmd()", "a/b", "x" * 500, "  ", "<b>", ".hidden"])
    def test_names_become_safe_folders(self, name):
        safe = as_folder(name)
        assert safe
        assert len(safe) <= 100
        assert not set(safe) & set("/\\=<>'\"`$ \n")
        assert safe[0] not in ".-+@"


def bombs():
    """Archives and files that take far more memory to read than they are long, by what they do."""
    folding = bz2.BZ2Compressor()
    stream = b"".join(folding.compress(b"0" * entries.MEGABYTE) for _ in range(300))
    stream += folding.flush()
    unfolding = bytearray(packed((f"{NAME}.ipynb", stream), method=zipfile.ZIP_STORED))
    directory = unfolding.index(b"PK\1\2")
    for place in (8, directory + 10):
        unfolding[place : place + 2] = struct.pack("<H", zipfile.ZIP_BZIP2)
    for place in (22, directory + 24):
        unfolding[place : place + 4] = struct.pack("<I", 10**6)
    yield "unfolds at once", "eve.zip", bytes(unfolding)

    number = 1_000_000
    contents = (b"PK\1\2\x14\0\x14\0" + bytes(38)) * number
    size = len(contents)
    longer = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, number, number, size, 0)
    where = b"PK\6\7" + struct.pack("<IQI", 0, size, 1)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0, 0xFFFFFFFF, 0)
    yield "a million entries by zip64", "eve.zip", contents + longer + where + end
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, size, 0, 22)
    decoy = b"PK\5\6" + bytes(18)
    yield "a million entries, and a comment", "eve.zip", contents + end + decoy

    block = random.Random(0).randbytes(64) + b"0" * 4000
    one = packed((f"{NAME}.ipynb", block * (40 * entries.MEGABYTE // len(block))))
    start, stop = one.index(b"PK\1\2"), one.index(b"PK\5\6")
    entry = one[start:stop]
    many = b"".join(entry[:46] + b"%011d.ipynb" % n + entry[46 + 17 :] for n in range(12))
    assert len(f"{NAME}.ipynb") == 17
    tail = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 12, 12, len(many), start, 0)
    yield "entries that overlap", "eve.zip", one[:start] + many + tail

    yield "empty cells", "eve/x.ipynb", b'{"cells":[' + b"{}," * 8_000_000 + b"{}]}"
    yield "as much as may be", "eve/x.ipynb", b" " * entries.MOST_NOTEBOOK_BYTES
    names = [(f"{number}/".ljust(60_000, "x"), b"") for number in range(100)]
    yield "long names", "eve.zip", packed(*names)
    nested = packed(("0.zip", packed(("0.zip", packed(("0.zip", BOMB))))))
    yield "archives in archives", "eve.zip", nested


# Python, nbformat and what they import take half of it.
MOST_MEGABYTES = 250


@pytest.mark.slow
def test_no_file_takes_much_memory_and_none_stops_the_others(course, inbox):
    report = (
        "import sys\n"
        "from pathlib import Path\n"
        "from course_grader.lms.collect import collect\n"
        "from course_grader.course import Course\n"
        "for one in collect(Course(Path(sys.argv[1])), sys.argv[2], [Path(sys.argv[3])]):\n"
        "    print(one.student, one.action.name)\n"
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
    )
    put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
    for what, name, content in bombs():
        path = put(inbox / name, content)
        done = subprocess.run(
            [sys.executable, "-c", report, str(course.root), NAME, str(inbox)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (what, done.stderr)
        ada, eve, kilobytes = done.stdout.splitlines()
        assert ada in ("ada NEW", "ada UNCHANGED"), what
        assert eve.startswith("eve "), what
        assert int(kilobytes) / 1024 < MOST_MEGABYTES, (what, kilobytes)
        path.unlink()
        if path.parent != inbox:
            path.parent.rmdir()


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
