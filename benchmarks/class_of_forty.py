"""A class of forty: honest, wrong, hostile and broken; to grade by hand, or by one command.

    python -m benchmarks.class_of_forty ../trial
    course grade 04 --timeout 10 --course ../trial/course

    sudo python -m benchmarks.class_of_forty ../trial --grade container

Builds a course folder in which forty people handed in chapter 04's assignment: eight solved it, six
in part, five made mistakes that the judges know by name, and twenty-one handed in a case of
`tests/threats`. With `--grade` it is graded at once, as whoever runs this ("here"), as an ordinary
user ("user") or as root in a container's conditions ("container"), and what came of each is printed
beside what should have; the exit code says whether all of it is right.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat

from benchmarks.conditions import CONDITIONS, inside
from course_grader.assignment import Assignment
from course_grader.batch import grade
from course_grader.outcome import Outcome, Status
from course_tasks.runner.limits import Limits

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "threats"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "tasks"))

from students import source_of, students_of
from threat_suite import ASSIGNMENT, Class, cases, hand_in

# Hostile, odd and broken ones that a real class holds; each is handed in by somebody named below.
CASES = (
    "forging/always-equal",
    "forging/outputs-forged",
    "leaving-out/check-deleted",
    "leaving-out/empty-file",
    "leaving-out/hard-exit",
    "leaving-out/invalid-json",
    "leaving-out/two-notebooks",
    "reading/solutions",
    "reading/network",
    "resources/endless-loop",
    "resources/memory-bomb",
    "writing/gradebook-deleted",
    "grader/configuration-beside-the-notebook",
    "grader/notebook-of-empty-cells",
    "grader/answer-of-no-elements-forged",
    "root/program-for-core-dumps",
    "neighbours/busy-loops-in-sessions",
    "neighbours/scheduling-groups",
    "nobodys-fault/signals-to-process-1",
    "people/script-in-words",
    "honest/pictures",
)
SOLVED, IN_PART = 8, 6

# What a case needs that never ends by itself is a limit; the others need none.
LIMITS = Limits(cell_seconds=10, total_seconds=60)

# fmt: off
PEOPLE = (
    "abel", "agnesi", "banach", "bernoulli", "boole", "cantor", "cauchy", "clifford",
    "dirichlet", "erdos", "euler", "fermat", "fourier", "galois", "gauss", "germain",
    "goedel", "hamilton", "hilbert", "hopper", "hypatia", "jacobi", "kepler", "lagrange",
    "laplace", "leibniz", "lovelace", "markov", "mirzakhani", "napier", "noether", "pascal",
    "peano", "poincare", "ramanujan", "riemann", "russell", "stokes", "turing", "weyl",
)
# fmt: on

WORDS = (
    "The table counts pairs, so the model sees one character and forgets the rest.",
    "Because a bigram has no memory: `th` and `sh` look the same once it is at the `h`.",
    "No idea, sorry.",
)


def solved(book: Any, right: dict[str, str], who: int, count: int | None = None) -> None:
    """Right answers in the first cells, and a sentence for the question."""
    assignment = Assignment.of(book)
    for answer in assignment.answers[:count]:
        book.cells[answer.number - 1].source = right[answer.grade_id]
    for question in assignment.questions:
        book.cells[question.number - 1].source = WORDS[who % len(WORDS)]


def mistaken(book: Any, right: dict[str, str], who: int) -> None:
    """Right answers but for every second task, of which each has one of two known mistakes."""
    solved(book, right, who)
    assignment = Assignment.of(book)
    for number, check in enumerate(assignment.checks):
        if (number + who) % 2:
            mistake = list(students_of(check.task).WRONG)[who % 4 // 2]
            answer = assignment.answer_to(check)
            source = f"{source_of(check.task)}\n\n{check.answer} = WRONG[{mistake!r}]"
            book.cells[answer.number - 1].source = source


def rest_of_the_class(made: Class, names: list[str]) -> dict[str, str]:
    """In place of the neighbours of the cases, who are all alike: people, and what each did."""
    for neighbour in [one for one, case in made.members.items() if case is None]:
        shutil.rmtree(made.course.submitted / neighbour)
    path = f"{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
    solution = Assignment.of(nbformat.read(made.course.solutions / path, as_version=4))
    right = {answer.grade_id: answer.source for answer in solution.answers}
    did = {}
    for who, name in enumerate(names):
        book = nbformat.read(made.course.exercises / path, as_version=4)
        if who < SOLVED:
            solved(book, right, who)
            did[name] = "all"
        elif who < SOLVED + IN_PART:
            count = who % len(right)
            solved(book, right, who, count)
            did[name] = f"{count} cells"
        else:
            mistaken(book, right, who)
            did[name] = "mistakes"
        target = made.course.submitted / name / path
        target.parent.mkdir(parents=True)
        nbformat.write(book, target)
    return did


def wanted(made: Class, did: Mapping[str, str], student: str) -> tuple[float, float]:
    """The fewest and the most points that somebody may get."""
    case = made.members.get(student)
    if case is not None:
        return made.wanted(case)
    if did[student] == "all":
        return made.full, made.full
    if did[student] == "mistakes":
        return made.full / 4, made.full - 1  # every second task is right
    assignment = Assignment.of(made.exercise)
    filled = assignment.answers[: int(did[student].partition(" ")[0])]
    # An experiment has several cells to fill, and its check reads the last one.
    points = sum(c.points for c in assignment.checks if assignment.answer_to(c) in filled)
    return float(points), float(points)


def wrong(made: Class, did: Mapping[str, str], one: Outcome) -> str:
    """What is not as it should be about somebody's outcome; empty if nothing."""
    case = made.members.get(one.student)
    if one.status is Status.FAILED:
        return "the machine's fault"
    if one.status is Status.SET_ASIDE:
        fitting = case is not None and (case.set_aside or case.may_be_set_aside)
        return "" if fitting else "set aside"
    fewest, most = wanted(made, did, one.student)
    if case is not None and case.set_aside:
        return "not set aside"
    if case is not None and (made.leaked(one.student) or made.unsafe(one.student)):
        return "reads what is hidden, or shows a script"
    return "" if fewest <= one.points <= most else f"should have {fewest:g} to {most:g} points"


def grade_and_print(made: Class, did: Mapping[str, str]) -> bool:
    """Grade all, and print what came of each; whether all of it is right."""
    summary = grade(made.course, ASSIGNMENT, limits=LIMITS)
    outcomes = {one.student: one for one in summary.outcomes}
    fine = set(outcomes) == set(made.members) | set(did)
    for student in sorted(outcomes):
        one, case = outcomes[student], made.members.get(student)
        fault = wrong(made, did, one)
        fine = fine and not fault
        got = f"{one.points:g} points" if one.status is Status.GRADED else one.status.value
        who = f"solved {did[student]}" if case is None else case.name
        said = f"  {one.reason[:90]}" if one.reason else ""
        print(f"{student:<11} {who:<45} {got:<10}{said}{f'  WRONG: {fault}' * bool(fault)}")
    print(f"{len(outcomes)} submissions in {summary.seconds:.1f} s; {summary.form} form")
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a new folder")
    parser.add_argument("--grade", choices=CONDITIONS, metavar="WHO", help=", ".join(CONDITIONS))
    said = parser.parse_args()
    folder = said.folder.resolve()
    if said.grade not in (None, "here"):
        folder.mkdir(parents=True)
        again = [sys.executable, "-m", "benchmarks.class_of_forty", str(folder / "class")]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        environment |= {"MPLCONFIGDIR": f"{folder}/cache", "XDG_CACHE_HOME": f"{folder}/cache"}
        command = [*inside(said.grade, folder), *again, "--grade", "here"]
        raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)
    # Hostile and honest ones stand mixed in the alphabet.
    names = [PEOPLE[17 * number % len(PEOPLE)] for number in range(len(PEOPLE))]
    known = {case.name: case for case in cases()}
    chosen = [replace(known[name], student=who) for name, who in zip(CASES, names, strict=False)]
    with hand_in(folder, chosen) as made:
        did = rest_of_the_class(made, names[len(CASES) :])
        members = {name: case for name, case in made.members.items() if case is not None}
        if said.grade is not None:
            fine = grade_and_print(replace(made, members=members), did)
            raise SystemExit(0 if fine else 1)
    print(f"course grade {ASSIGNMENT} --course {made.course.root}")


if __name__ == "__main__":
    main()
