"""`course late`: who handed in late, and what that costs; nothing is graded for it."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

from course_grader.commands.arguments import AssignmentName, CourseFolder, Database
from course_grader.commands.messages import escape, explained


def late(assignment: AssignmentName, db: Database = None, course: CourseFolder = None) -> None:
    """Count again who was late and what it costs: times, due date, extensions and policy.

    No submission is run or judged for it. The due date and the policy stand in nbgrader_config.py,
    which names them all (`c.CourseGrade.due`, `c.PercentPerDay.percent_per_day` …), extensions in
    a CSV file with the columns student, assignment and until (`c.CourseGrade.extensions`), and
    times come from `course collect --times`. `course grade` does the same at its end.

    Exit code: 0 if it is counted, 1 if the table of extensions names somebody who handed nothing
    in, 2 if it could not be counted.

    **Example**

        course late 04
    """
    with explained():
        from course_grader import lateness, locks
        from course_grader.course import Course
        from course_grader.gradebook.record import Recorder
        from course_grader.gradebook.standing import standing
        from course_grader.reports import report
        from course_grader.reports.student_page import in_words

        here = Course.find(course)
        name = here.assignment(assignment)
        with locks.folder(here), Recorder(here, db) as recorder, locks.database(recorder.url):
            settled = lateness.settle(recorder, name)
            found = standing(here, name, db)
            report.write(here, name, db)
        table = Table("Student", "Handed in (UTC)", "Due (UTC)", "Late", "Taken off", box=None)
        shown = [one for one in found.handed_in if one.late or one.extension]
        for one in shown:
            due = f"{one.due:%Y-%m-%d %H:%M}" + (" extended" if one.extension else "")
            table.add_row(
                escape(one.student),
                f"{one.timestamp:%Y-%m-%d %H:%M}" if one.timestamp else "unknown",
                due,
                in_words(one.late) if one.late else "no",
                f"{one.penalty:.3g} of {one.points:g}" if one.penalty else "nothing",
            )
        console = Console()
        if shown:
            console.print(table)
        _say_what_is_missing(console, found.due is None, sum(not o.timestamp for o in shown))
        count = len(settled.changed)
        console.print(f"[green]✓[/] {sum(bool(one.late) for one in shown)} late; {count} changed.")
        for stranger in settled.strangers:
            console.print(
                f"[yellow]–[/] {escape(stranger)} has an extension, and handed nothing in under "
                "that name or number",
                soft_wrap=True,
            )
        if settled.strangers:
            raise typer.Exit(1)


def _say_what_is_missing(console: Console, no_date: bool, without_time: int) -> None:
    if no_date:
        console.print(
            "It has no due date, so nobody is late: set c.CourseGrade.due in nbgrader_config.py.",
            soft_wrap=True,
        )
    if without_time:
        console.print(
            f"Of {without_time} of these nobody said when they handed in, so they are not late: "
            "course collect … --times times.csv",
            soft_wrap=True,
        )
