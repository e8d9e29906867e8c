"""Of several notebooks of a student the right one counts, and collecting again loses none."""

import shutil
import zipfile
from datetime import datetime

import pytest
from submitted_files import NAME, a_notebook, by_student, collected, everything, moodle, packed, put
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.errors import ReplacementNotConfirmedError, UnreadableSheetError
from course_grader.lms.collect import Action, collect
from course_grader.submissions import submissions


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
