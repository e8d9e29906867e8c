"""What checks say to wrong answers that no list names, in several draws each.

    python -m benchmarks.unlisted            all sets
    python -m benchmarks.unlisted 05 --sets 2 --say

For the answers that a judge was tuned on, `--say` prints what they are told. Of those held aside
it prints totals alone, so that tuning cannot learn from them; `--open` prints them like the
others, for whoever wants to read them when the tuning is over.
"""

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

from course_tasks import check

STUDENTS = Path(__file__).parent.parent / "tests" / "tasks"

GENERIC = {"difference", "some-inputs"}
KINDS = ("accepted", "generic", "specific")


def kind(verdict):
    """How an answer fared in one draw: accepted, or rejected in general or specific words."""
    if verdict.points == verdict.out_of:
        return "accepted"
    return "generic" if verdict.findings[0].name in GENERIC else "specific"


def fared(verdicts):
    """How it fared in all draws: by the worst of them."""
    return min((kind(verdict) for verdict in verdicts), key=KINDS.index)


def told(verdicts):
    """The different things that the draws say, each with how often it came first."""
    first = Counter(
        f"{verdict.points:g}/{verdict.out_of:g} "
        f"{verdict.findings[0].name if verdict.findings else '-'}"
        for verdict in verdicts
    )
    return ", ".join(f"{count}x {name}" for name, count in first.items())


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chapters", nargs="*", help="for example 05; all without")
    parser.add_argument(
        "--sets", nargs="+", type=int, default=[], metavar="N", help="1, 2, …; all without"
    )
    parser.add_argument("--task", help="only this task")
    parser.add_argument("--generic", action="store_true", help="say only what is generic or worse")
    parser.add_argument("--say", action="store_true", help="print what each answer is told")
    parser.add_argument("--open", action="store_true", help="treat the held aside like the others")
    parser.add_argument("--tuned", action="store_true", help="leave the held aside alone")
    parser.add_argument("--draws", type=int, default=5)
    asked = parser.parse_args(arguments)
    sys.path.insert(0, str(STUDENTS))
    import unlisted

    warnings.simplefilter("ignore")
    totals = {False: Counter(), True: Counter()}
    numbered = {int(name.removeprefix("set_")): name for name in unlisted.SETS}
    if unknown := set(asked.sets) - set(numbered):
        parser.error(f"there is no set {min(unknown)}: they go from 1 to {max(numbered)}")
    chosen = [numbered[number] for number in asked.sets] or unlisted.SETS
    for name in chosen:
        for chapter in unlisted.chapters(name):
            if asked.chapters and chapter not in asked.chapters:
                continue
            for task, answers in unlisted.written(chapter, name).items():
                if asked.task and task != asked.task:
                    continue
                for answer, aside in answers:
                    if aside and asked.tuned:
                        continue
                    verdicts = [check(task, answer, seed=seed) for seed in range(asked.draws)]
                    how = fared(verdicts)
                    totals[aside][how] += 1
                    if aside and not asked.open:
                        continue
                    print(f"{how:8} {task} {answer.__name__}: {told(verdicts)}", flush=True)
                    if asked.say and (how != "specific" or not asked.generic):
                        for finding in verdicts[0].findings:
                            print(f"    [{finding.name}] {finding.what}\n      {finding.effect}")
    for aside, counts in totals.items():
        words = ", ".join(f"{counts[name]} {name}" for name in KINDS)
        print(f"{'held aside' if aside else 'tuned on'}: {sum(counts.values())}: {words}")


if __name__ == "__main__":
    main()
