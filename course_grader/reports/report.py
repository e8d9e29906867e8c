"""What a class has understood: a page with pictures and a table beside it, from the gradebook.

The page is complete in itself: no script, no request to anywhere. Everything on it that a student
had a say in is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.gradebook.standing import ClassStanding, StudentGrades, standing
from course_grader.lms import sheets
from course_grader.outcome import Status
from course_grader.reports import markup, tally
from course_grader.reports.markup import prose, text

# Longer lists are read by nobody; the table beside the page has everybody.
MOST_ROWS = 25
SLOWEST = 8

_NOBODY: Mapping[str, str] = MappingProxyType({})


def write(
    course: Course, assignment: str, url: str | None = None, *, sandboxed: bool = True
) -> Path:
    """Write `reports/<assignment>.html`, and the same as a table beside it.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name.
    url : str, optional
        Of the gradebook.
    sandboxed : bool
        False marks the page even if the gradebook holds no run without a sandbox.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    GradebookError
        If the gradebook cannot be read.
    NotWrittenError
        If the page cannot be written.
    """
    class_standing = standing(course, assignment, url)
    ungraded = tally.ungraded(course, class_standing)
    folder = course.root / "reports"
    table(class_standing, folder / f"{assignment}.csv", ungraded)
    path = folder / f"{assignment}.html"
    write_atomically(path, page(class_standing, sandboxed=sandboxed, ungraded=ungraded))
    return path


def table(standing: ClassStanding, path: Path, ungraded: Mapping[str, str] = _NOBODY) -> Path:
    """One row a student: points, each task, and why there is no final score yet.

    Parameters
    ----------
    standing : ClassStanding
    path : Path
        Of the CSV file.
    ungraded : mapping of str to str
        See `page`.
    """
    names = list(standing.cells)
    header = ["student", "last name", "first name", "status", "points", "penalty", "score"]
    header += ["out of", "handed in", "waits for", "reason", *names, "seconds", "sandbox", "notes"]
    rows = []
    strangers = ungraded.keys() - {one.student for one in standing.students}
    for one in (*standing.students, *map(StudentGrades, sorted(strangers))):
        points = {cell.name: None if cell.waits else cell.points for cell in one.cells}
        run = one.run
        status = "not graded" if one.student in ungraded else _status(one)
        who = [one.student, one.last_name, one.first_name, status]
        numbers = [one.points, one.penalty, one.score] if one.submitted else ["", "", ""]
        rows.append(
            [
                *who,
                *numbers,
                standing.out_of,
                one.timestamp or "",
                " ".join(one.waiting),
                run.reason if run else ungraded.get(one.student, ""),
                *(points.get(name) for name in names),
                round(float(run.seconds.get("run", 0.0)), 2) if run else "",
                ("yes" if run.sandboxed else "NO") if run else "",
                "; ".join(run.notes) if run else "",
            ]
        )
    return sheets.write(path, header, rows)


def page(
    standing: ClassStanding, *, sandboxed: bool = True, ungraded: Mapping[str, str] = _NOBODY
) -> str:
    """The report as HTML.

    Parameters
    ----------
    standing : ClassStanding
    sandboxed : bool
        See `write`.
    ungraded : mapping of str to str
        Whoever handed in and is not in the gradebook, and why.
    """
    parts = [f"<h1>{text(standing.assignment)}: how the class stands</h1>"]
    parts += _warning(standing, sandboxed)
    parts.append(_summary(standing, ungraded))
    if tally.graded(standing):
        parts += _pictures(standing)
        parts += _mistakes(standing)
    parts += _people(standing)
    parts += _runs(standing, ungraded)
    parts.append(_everybody(standing))
    return markup.page(f"{standing.assignment}: class report", "\n".join(parts), _STYLE)


def _warning(standing: ClassStanding, sandboxed: bool) -> Iterator[str]:
    bare = [one for one in standing.students if one.run and not one.run.sandboxed]
    if bare or not sandboxed:
        who = f"{len(bare)} of {len(standing.handed_in)} submissions" if bare else "Submissions"
        yield (
            f'<p class="alarm" role="alert"><strong>Graded WITHOUT a sandbox.</strong> {who} ran '
            "with your rights on this machine. Their points can be forged, and so can this page: "
            "grade them again with a sandbox (<code>course doctor</code> names what is missing)."
            "</p>"
        )


def _summary(standing: ClassStanding, ungraded: Mapping[str, str]) -> str:
    graded = tally.graded(standing)
    times = [one.run.graded_at for one in standing.students if one.run]
    silent = {one.student for one in standing.students} - {o.student for o in standing.handed_in}
    absent = len(silent - ungraded.keys())
    middle = tally.middle(standing)
    facts: list[tuple[str, Any]] = [
        ("handed in", len(standing.handed_in) + len(ungraded)),
        ("graded", len(graded)),
        ("set aside", len(tally.with_status(standing, Status.SET_ASIDE))),
        ("failed", len(tally.with_status(standing, Status.FAILED))),
        ("answers that wait", sum(len(who) for who in tally.waiting(standing).values())),
        ("median", f"{middle:g} of {standing.out_of:g}" if graded else "–"),
    ]
    if absent:
        facts.insert(1, ("nothing handed in", absent))
    if ungraded:
        facts.insert(2, ("not graded", len(ungraded)))
    boxes = "".join(f"<div><dt>{name}</dt><dd>{text(value)}</dd></div>" for name, value in facts)
    when = f"Last graded {max(times):%Y-%m-%d %H:%M} UTC. " if times else ""
    return f'<dl class="facts">{boxes}</dl><p>{when}The same as a table: {_csv_name(standing)}.</p>'


def _csv_name(standing: ClassStanding) -> str:
    return f"<code>{text(standing.assignment)}.csv</code>"


def _pictures(standing: ClassStanding) -> Iterator[str]:
    from course_grader.reports.pictures import points_of_class, success_of_tasks

    yield "<h2>Points</h2>"
    yield points_of_class(standing).markup
    yield "<h2>Tasks</h2>"
    yield success_of_tasks(tally.tasks(standing)).markup


def _mistakes(standing: ClassStanding) -> Iterator[str]:
    found = tally.mistakes(standing)
    yield "<h2>Which mistakes, and how many students made them</h2>"
    if not found:
        yield "<p>None was found.</p>"
        return
    most = len(found[0].students)
    rows = []
    for one in found[:MOST_ROWS]:
        count = len(one.students)
        who = ", ".join(one.students[:12]) + (" …" if count > 12 else "")
        section = f"<br><small>Look again at {text(one.section)}.</small>" if one.section else ""
        bar = f'<span class="bar" style="width:{6 * count / most:.2f}rem"></span>'
        rows.append(
            f'<tr><td class="count">{count}</td><td>{bar}</td><td>{text(one.task)}</td>'
            f"<td>{prose(one.sentence)}{section}"
            f"<details><summary>who</summary>{text(who)}</details></td></tr>"
        )
    yield markup.table(("students", "", "task", "what they did"), rows)
    if len(found) > MOST_ROWS:
        fewer = len(found[MOST_ROWS].students)
        yield f"<p>{len(found) - MOST_ROWS} more, each made by at most {fewer}.</p>"


def _people(standing: ClassStanding) -> Iterator[str]:
    """What waits for a person: written answers, and what the grader set aside."""
    waiting = tally.waiting(standing)
    yield "<h2>Waits for a person</h2>"
    if waiting:
        yield (
            "<p>Open them in formgrader, under <em>Manual Grading</em>.</p>"
            + markup.table(
                ("cell", "answers"),
                [f"<tr><td>{text(n)}</td><td>{len(w)}</td></tr>" for n, w in waiting.items()],
            )
        )
    else:
        yield "<p>No written answer does.</p>"
    aside = tally.with_status(standing, Status.SET_ASIDE)
    if aside:
        yield "<h3>Set aside by the grader</h3>"
        yield _reasons(aside)
    changed = [one for one in tally.graded(standing) if one.run and one.run.notes]
    if changed:
        yield "<h3>Changed where nothing should be changed</h3>"
        yield "<p>Their checks were replaced by the released ones before the run.</p>"
        rows = [(one, "; ".join(one.run.notes)) for one in changed if one.run]
        yield _listed(rows)


def _runs(standing: ClassStanding, ungraded: Mapping[str, str]) -> Iterator[str]:
    yield "<h2>Runs</h2>"
    if ungraded:
        yield "<h3>Handed in, and not in the gradebook</h3>"
        yield _listed([(StudentGrades(name), why) for name, why in sorted(ungraded.items())])
    failed = tally.with_status(standing, Status.FAILED)
    if failed:
        yield "<h3>Failed: the machine's fault, nobody's zero</h3>"
        yield "<p><code>course grade</code> tries them again.</p>"
        yield _reasons(failed)
    early = [one for one in tally.graded(standing) if one.run and one.run.reason]
    if early:
        yield "<h3>Ended early</h3>"
        yield _reasons(early)
    slow = tally.slowest(standing, SLOWEST)
    if slow:
        yield "<h3>Slowest</h3>"
        rows = [
            f"<tr><td>{text(one.student)}</td><td>{seconds:.2f} s</td></tr>"
            for one, seconds in slow
        ]
        yield markup.table(("student", "run"), rows)


def _everybody(standing: ClassStanding) -> str:
    rows = []
    for one in standing.students:
        score = f"{one.score:g}" if one.submitted else "–"
        late = f" (late: −{one.penalty:g})" if one.penalty else ""
        name = " ".join(filter(None, (one.first_name, one.last_name)))
        rows.append(
            f"<tr><td>{text(one.student)}</td><td>{text(name)}</td>"
            f"<td>{score}{late}</td><td>{text(one.unfinished or _status(one))}</td></tr>"
        )
    head = ("student", "name", f"score of {standing.out_of:g}", "state")
    return f"<details><summary><h2>Everybody</h2></summary>{markup.table(head, rows)}</details>"


def _reasons(people: Sequence[StudentGrades]) -> str:
    return _listed([(one, one.run.reason) for one in people if one.run])


def _listed(rows: Sequence[tuple[StudentGrades, str]]) -> str:
    lines = [
        f"<tr><td>{text(one.student)}</td><td>{prose(words)}</td></tr>"
        for one, words in rows[:MOST_ROWS]
    ]
    more = f"<p>{len(rows) - MOST_ROWS} more are in the table.</p>" if len(rows) > MOST_ROWS else ""
    return markup.table(("student", "reason"), lines) + more


def _status(one: StudentGrades) -> str:
    if one.run is not None:
        return one.run.status.value
    return "graded by nbgrader" if one.submitted else "nothing handed in"


_STYLE = """\
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.2rem; } summary h2 { display: inline-block; margin-bottom: .4rem; }
.alarm { border: 3px solid #c9413f; padding: .8rem 1rem; font-size: 1.15rem; }
.facts { display: flex; flex-wrap: wrap; gap: .6rem 2rem; margin: 1rem 0; }
.facts dt { font-size: .85rem; opacity: .8; } .facts dd { margin: 0; font-size: 1.5rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; font-size: .9rem; }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
table { min-width: 30rem; } td { overflow-wrap: break-word; }
td.count { font-size: 1.2rem; text-align: right; }
.bar { display: inline-block; height: .8rem; background: #2f7fd1; border-radius: .15rem; }
details summary { cursor: pointer; } small { opacity: .85; }
"""
