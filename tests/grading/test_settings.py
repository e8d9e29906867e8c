"""A setting that nothing reads is named: a misspelled limit or date would count for nothing."""

import pytest

from course_grader.course import Course
from course_grader.options import CourseGrade
from course_lib.errors import ConfigError


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("c.CourseGrade.job = 3", r"sets c\.CourseGrade\.job, which is none: did you mean jobs"),
        (
            "c.CourseGrade.xyz = 3",
            r"xyz, which is none: there are anonymous_marking, .*, scheduler",
        ),
        ("c.CourseGrad.jobs = 3", r"sets c\.CourseGrad, which nothing reads.*c\.CourseGrade\?"),
        ("c.PercentPerDays.grace_minutes = 3", r"did you mean c\.PercentPerDay\?"),
    ],
)
def test_setting_that_nothing_reads_is_named(tmp_path, line, said):
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n")
    with pytest.raises(ConfigError, match=said):
        CourseGrade.of(Course(tmp_path))


def test_sections_of_nbgrader_are_left_alone(tmp_path):
    lines = ("c.CourseGrade.jobs = 3", "c.CourseDirectory.course_id = 'x'", "c.Execute.timeout = 9")
    (tmp_path / "nbgrader_config.py").write_text("\n".join(["c = get_config()", *lines, ""]))
    assert CourseGrade.of(Course(tmp_path)).jobs == 3
