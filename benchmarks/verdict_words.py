"""How many words a student has to read: of every verdict on the collected wrong answers.

    python -m benchmarks.verdict_words            all chapters
    python -m benchmarks.verdict_words 01 05      these
    python -m benchmarks.verdict_words --longest 30

Words are what stands between spaces in `print(verdict)`, numbers and signs included. A verdict is
to have at most 75 at the median and 120 at the most, unless it works an example out.
"""

import argparse
import statistics
import sys
import warnings
from collections import defaultdict
from pathlib import Path

from course_tasks import catalogue, check

STUDENTS = Path(__file__).parent.parent / "tests" / "tasks"
MEDIAN, MOST = 75, 120


def wrong_answers(chapters):
    """Task and answer, of the lists of students and of the sets that no list names."""
    sys.path.insert(0, str(STUDENTS))
    import unlisted
    from students import students_of

    for task in catalogue.names():
        if not chapters or task[:2] in chapters:
            students = students_of(task)
            for answer in students.WRONG.values():
                yield task, answer
            for answer, _ in getattr(students, "ODD", []):
                yield task, answer
            for number in unlisted.SETS:
                yield from ((task, answer) for answer in unlisted.written(task, number))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chapters", nargs="*", help="for example 05; all without")
    parser.add_argument("--longest", type=int, default=10, help="findings to name, longest first")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    words, by_finding = [], defaultdict(list)
    for task, answer in wrong_answers(asked.chapters):
        verdict = check(task, answer, seed=0)
        if verdict.points < verdict.out_of:
            count = len(str(verdict).split())
            words.append(count)
            by_finding[f"{task} {verdict.findings[0].name}"].append(count)
    if not words:
        parser.error(f"there is no wrong answer of chapter {', '.join(asked.chapters)}")
    above = [sum(count > most for count in words) for most in (MEDIAN, MOST)]
    print(
        f"{len(words)} verdicts: median {statistics.median(words):g}, 90th percentile "
        f"{sorted(words)[int(0.9 * len(words))]}, longest {max(words)}; above {MEDIAN}: "
        f"{above[0]} ({above[0] / len(words):.0%}), above {MOST}: {above[1]}"
    )
    for finding, counts in sorted(by_finding.items(), key=lambda one: -max(one[1])):
        if asked.longest <= 0:
            break
        asked.longest -= 1
        print(f"{max(counts):5} {finding}")


if __name__ == "__main__":
    main()
