"""`course grade` says what it did and why it cannot, and takes its options from the settings."""

import ast
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sql
from graded_class import NAME, command, full, points

from course_grader.batch import grade
from course_grader.course import Course
from course_grader.errors import (
    ClockBehindError,
    FaultyAssignmentError,
    GradebookError,
    NothingToGradeError,
    NotWrittenError,
)
from course_grader.options import CourseGrade
from course_grader.sandbox import cluster
from course_grader.submissions import Submission, submissions
from course_lib.errors import ConfigError
from course_tasks.runner.limits import Limits

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


class TestErrors:
    def test_nothing_handed_in(self, class_of):
        with pytest.raises(NothingToGradeError, match=r"submitted/<student>/01-averages/"):
            grade(class_of(), NAME)
        with pytest.raises(NothingToGradeError, match="of nobody"):
            grade(class_of("ada"), NAME, students=["nobody"])

    def test_not_released(self, class_of):
        course = class_of("ada")
        (course.exercises / NAME / f"{NAME}.ipynb").unlink()
        with pytest.raises(FaultyAssignmentError, match="course release 01-averages --gradebook"):
            grade(course, NAME)

    def test_exercise_changed_since_it_was_entered(self, class_of, editable):
        course = class_of("ada")
        book = editable(course.exercises / NAME / f"{NAME}.ipynb")
        book.cell(book.ids("check")[0]).metadata.nbgrader["points"] = 99
        book.save()
        with pytest.raises(GradebookError, match="was changed since"):
            grade(course, NAME)

    def test_full_disk_of_the_gradebook_loses_nothing(self, class_of):
        course = class_of("ada", "ben")

        def fill(connection, _record):
            pages = connection.execute("pragma page_count").fetchone()[0]
            connection.execute(f"pragma max_page_count = {pages}")

        sql.event.listen(sql.Engine, "connect", fill)
        try:
            with pytest.raises(GradebookError, match="full"):
                grade(course, NAME)
        finally:
            sql.event.remove(sql.Engine, "connect", fill)
        assert grade(course, NAME).complete
        assert set(points(course)) == {"ada", "ben"}

    def test_folder_that_cannot_be_written_is_named(self, class_of):
        course = class_of("ada")
        course.feedback.write_text("in the way")
        with pytest.raises(NotWrittenError, match="feedback"):
            grade(course, NAME)
        course.feedback.unlink()
        assert grade(course, NAME).complete

    def test_clock_behind_the_gradebook(self, class_of):
        course = class_of("ada")
        grade(course, NAME)
        engine = sql.create_engine(f"sqlite:///{course.root}/gradebook.db")
        later = datetime.now(UTC).replace(tzinfo=None) + timedelta(days=1)
        with engine.begin() as connection:
            connection.execute(sql.text("update course_runs set graded_at = :at"), {"at": later})
        with pytest.raises(ClockBehindError, match="set the clock"):
            grade(course, NAME)


class TestFiles:
    def hand_in(self, root, **files):
        folder = root / "submitted" / "ada" / NAME
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name.replace("_", ".")).write_text(content)
        return Submission("ada", NAME, folder)

    def test_timestamp_is_read_and_nonsense_is_none(self, tmp_path):
        one = self.hand_in(tmp_path, timestamp_txt="2026-03-01 12:00:00 UTC")
        assert one.timestamp == datetime(2026, 3, 1, 12)
        for words in ("soon", "9" * 900, "x" * 5000, ""):
            (one.folder / "timestamp.txt").write_text(words)
            assert one.timestamp is None

    def test_timestamp_that_is_a_link_is_not_followed(self, tmp_path):
        one = self.hand_in(tmp_path)
        (one.folder / "timestamp.txt").symlink_to("/dev/zero")
        assert one.timestamp is None

    def test_linked_folder_is_a_submission_that_is_set_aside_not_lost(self, tmp_path, course):
        folder = course.submitted / "ada"
        folder.mkdir(parents=True)
        (folder / NAME).symlink_to(tmp_path)
        (one,) = submissions(course, NAME)
        with pytest.raises(Exception, match="symbolic link"):
            _ = one.notebook


class TestOptions:
    def settings(self, course, *lines):
        with (course.root / "nbgrader_config.py").open("a") as file:
            file.write("\n" + "\n".join(lines) + "\n")
        return CourseGrade.of(Course(course.root))

    def test_are_read_from_the_settings_and_the_command_comes_before_them(self, course):
        options = self.settings(
            course, "c.CourseGrade.jobs = 7", "c.CourseGrade.memory_megabytes = 900"
        )
        assert options.jobs == 7
        assert options.limits().memory_megabytes == 900
        assert options.limits(memory_megabytes=100, cell_seconds=None).memory_megabytes == 100
        assert options.limits().cell_seconds == Limits().cell_seconds

    def test_file_of_the_course_names_each_with_its_default(self):
        said = (ROOT / "nbgrader_config.py").read_text()
        for name, trait in CourseGrade.class_own_traits(config=True).items():
            line = re.search(rf"^# c\.CourseGrade\.{name} = (.+)$", said, re.M)[1]
            assert ast.literal_eval(line) == trait.default()

    @pytest.mark.parametrize(
        "line", ["c.CourseGrade.jobs = 'many'", "c.CourseGrade.jobs = -1"], ids=["type", "bound"]
    )
    def test_that_cannot_be_are_an_error_with_the_file(self, course, line):
        with pytest.raises(ConfigError, match=r"nbgrader_config\.py"):
            self.settings(course, line)


class TestCommand:
    def test_shows_each_submission_and_a_summary_and_then_json_for_machines(self, class_of):
        course = class_of("ada", "ben", "cem")
        (course.submitted / "cem" / NAME / f"{NAME}.ipynb").write_text("{")
        feedback = command(course, "01")
        assert feedback.exit_code == 0, feedback.output
        assert f"ada {full(course):g} of {full(course):g}" in feedback.output
        assert "cem set aside" in feedback.output
        # Ada's and Cem's: two written questions, and a notebook that was set aside.
        assert re.search(r"wait for a person, in the whole class +2 \(2 answers\)", feedback.output)
        assert "reports/01-averages.html" in feedback.output
        assert "set c.CourseGrade.book" in feedback.output
        said = json.loads(command(course, "01", "--json", "--force").stdout)
        assert said["complete"] is True
        assert said["waiting"] == {"students": 2, "answers": 2}
        assert [one["status"] for one in said["submissions"]] == ["graded", "graded", "set aside"]
        assert json.loads(command(course, "01", "--json").stdout)["unchanged"] == [
            *("ada", "ben", "cem")
        ]

    def test_fails_if_the_machine_failed_on_one(self, class_of):
        result = command(class_of("ada", "b" * 129), "01")
        assert result.exit_code == 1
        assert "Nobody got a zero" in result.output

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["99"], "there is no assignment"),
            (["01", "--student", "nobody"], "no submission of nobody"),
            (["01", "--timeout", "0"], "a limit must be a number above 0"),
            (["01", "--timeout", "1000"], "raise c.CourseGrade.total_seconds"),
            (["01", "--db", "sqlite:////nowhere/at/all.db"], "no gradebook"),
            (["01", "--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
        ],
    )
    def test_what_cannot_be_is_an_error_with_its_reason(self, class_of, monkeypatch, words, said):
        monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 0.5)
        result = command(class_of("ada"), *words)
        assert result.exit_code == 2
        assert said in " ".join(result.output.split())
