"""A class of forty to grade by hand, as an instructor would: honest, wrong, hostile and broken.

    python -m benchmarks.class_of_forty ../trial
    course grade 04 --timeout 10 --course ../trial/course

Builds a course folder in which forty people handed in chapter 04's assignment: nine solved it,
eight in part, eight made mistakes that the judges know by name, and fifteen handed in a case of
`tests/threats`. Nothing is graded here.
"""

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell

from course_lib.grading.assignment import Assignment

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "threats"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "tasks"))

from students import ch04_bigram as students
from threat_suite import ASSIGNMENT, Class, cases, hand_in

# Hostile, odd and broken ones that a real class holds; each is handed in by somebody named below.
CASES = (
    "forging/always-equal",
    "forging/own-check",
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
    "people/script-in-words",
    "honest/pictures",
)

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
    """Right answers to the first tasks, and a sentence for the question."""
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
            task = check.task.partition("/")[2]
            mistake = list(students.WRONG[task])[who % 4 // 2]
            answer = assignment.answer_to(check)
            source = f"{check.answer} = WRONG[{task!r}][{mistake!r}]"
            book.cells[answer.number - 1].source = source
    tried = Path(students.__file__).read_text(encoding="utf-8")
    book.cells.insert(1, new_code_cell(tried))


def rest_of_the_class(made: Class, names: list[str]) -> None:
    """In place of the neighbours of the cases, who are all alike: people."""
    for neighbour in [one for one, case in made.members.items() if case is None]:
        shutil.rmtree(made.course.submitted / neighbour)
    path = f"{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
    solution = Assignment.of(nbformat.read(made.course.solutions / path, as_version=4))
    right = {answer.grade_id: answer.source for answer in solution.answers}
    for who, name in enumerate(names):
        book = nbformat.read(made.course.exercises / path, as_version=4)
        if who < 9:
            solved(book, right, who)
        elif who < 17:
            solved(book, right, who, who % len(right))
        else:
            mistaken(book, right, who)
        target = made.course.submitted / name / path
        target.parent.mkdir(parents=True)
        nbformat.write(book, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a new folder")
    folder = parser.parse_args().folder
    # Hostile and honest ones stand mixed in the alphabet.
    names = [PEOPLE[17 * number % len(PEOPLE)] for number in range(len(PEOPLE))]
    known = {case.name: case for case in cases()}
    chosen = [replace(known[name], student=who) for name, who in zip(CASES, names, strict=False)]
    with hand_in(folder, chosen) as made:
        rest_of_the_class(made, names[len(CASES) :])
    print(f"course grade {ASSIGNMENT} --course {made.course.root}")


if __name__ == "__main__":
    main()
