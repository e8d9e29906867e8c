"""Which file of a submission is read, and which is named because it is not."""

import os

import pytest
from classes import NAME, class_without_gradebook

from course_grader.course import Course
from course_grader.errors import UnreadableNotebookError
from course_grader.grade_one import job_of
from course_grader.submission_worker import SubmissionWorker
from course_grader.submissions import Submission, content_key


@pytest.fixture
def one(tmp_path):
    folder = tmp_path / "ada" / NAME
    folder.mkdir(parents=True)
    return Submission("ada", NAME, folder)


def put(one, name, source, age=0.0):
    path = one.folder / name
    path.write_bytes(source.read_bytes() if source else b"{}")
    os.utime(path, (1e9 - age, 1e9 - age))
    return path


@pytest.mark.parametrize("name", [f"{NAME}.ipynb.json", f"{NAME}.ipynb.txt", f"{NAME}.IPYNB"])
def test_notebook_with_another_ending_is_read(one, name):
    path = put(one, name, None)
    put(one, "notes.txt", None)
    assert one.notebook == path
    before = content_key(one, "basis")
    path.write_bytes(b"{ }")
    assert content_key(one, "basis") != before


def test_released_name_counts_among_several(one):
    put(one, "scratch.ipynb", None)
    path = put(one, f"{NAME}.ipynb.txt", None)
    assert one.notebook == path
    put(one, "more.ipynb.json", None)
    assert one.notebook == path
    path.unlink()
    with pytest.raises(UnreadableNotebookError, match="2 notebooks and none is named"):
        _ = one.notebook


@pytest.mark.parametrize("age", [-10.0, 10.0], ids=["newer", "older"])
def test_newer_notebook_that_is_not_read_is_named(one, course, tmp_path, age):
    released = course.exercises / NAME / f"{NAME}.ipynb"
    path = put(one, f"{NAME}.ipynb", released)
    put(one, f"{NAME}.ipynb.txt", released, age)
    whole = class_without_gradebook(Course(course.root), NAME, (tmp_path / "n", tmp_path / "p"))
    worker = SubmissionWorker()
    worker.prepare(job_of(one, whole, path))
    (note,) = worker._work.notes or ("",)
    assert (f"`{NAME}.ipynb.txt`" in note) == (age < 0)
