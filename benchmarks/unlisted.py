"""What checks say to wrong answers that no list names, in several draws each.

    python -m benchmarks.unlisted                    the table of all sets
    python -m benchmarks.unlisted 05 --sets 2 --say

An answer is *accepted*, or told *nothing* but that it is wrong, a *place* (something true of its
data), or a *cause*: a mistake that was run and gave the same results. The draw that tells least
counts.

`--say` prints what answers are told. Of the blind set it prints totals alone, so that no judge is
tuned on it; `--open` prints them like the others.

    python -m benchmarks.unlisted 05 --to before.json
    python -m benchmarks.unlisted 05 --against before.json

compares a judge with what it said before a change: answers that earn other points, and those that
are told less or something else.
"""

import argparse
import json
import sys
import warnings
from collections import Counter
from pathlib import Path

from course_tasks import Tells, catalogue, check

STUDENTS = Path(__file__).parent.parent / "tests" / "tasks"

KINDS = ("accepted", *(tells.value for tells in reversed(Tells)))


def kind(verdict):
    """How an answer fared in one draw: accepted, or rejected with words that tell nothing, a place
    or a cause.
    """
    return "accepted" if verdict.points == verdict.out_of else verdict.findings[0].tells.value


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


def kept(verdicts):
    """What is stored of an answer, to be compared with what it is told later."""
    said = list(verdicts[0].findings[:1])
    return {
        "how": fared(verdicts),
        "points": [verdict.points for verdict in verdicts],
        "name": [finding.name for finding in said],
        "says": [f"{finding.what} {finding.effect} [{finding.section}]" for finding in said],
    }


def table(counts):
    """A line for each set, and one for all: how many answers fared how."""
    lines = [
        f"| set | answers | {' | '.join(KINDS)} |",
        "| :-- | --: " + "| --: " * len(KINDS) + "|",
    ]
    for name, of_set in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        shares = " | ".join(str(of_set[kind]) for kind in KINDS)
        lines.append(f"| {name} | {of_set.total()} | {shares} |")
    return "\n".join(lines)


def changes(before, after):
    """What is different for each answer that both know: other points, less told, another name."""
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        if old["points"] != new["points"]:
            yield f"POINTS {name}: {old['points']} → {new['points']}"
        step = KINDS.index(new["how"]) - KINDS.index(old["how"])
        if step or old["name"] != new["name"]:
            word = "LESS" if step < 0 else "more" if step else "other"
            yield f"{word} {name}\n    before: {old['says']}\n    after:  {new['says']}"


def _tasks(unlisted, asked):
    """(number of the set, task, its answers) of what was asked for."""
    for number in asked.sets or unlisted.SETS:
        for task in catalogue.names():
            if asked.chapters and task.partition("/")[0] not in asked.chapters:
                continue
            if not asked.task or task == asked.task:
                yield number, task, unlisted.written(task, number)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chapters", nargs="*", help="for example 05; all without")
    parser.add_argument(
        "--sets", nargs="+", type=int, default=[], metavar="N", help="1, 2, …; all without"
    )
    parser.add_argument("--task", help="only this task")
    parser.add_argument("--no-cause", action="store_true", help="say only what names no cause")
    parser.add_argument("--say", action="store_true", help="print what each answer is told")
    parser.add_argument("--open", action="store_true", help="print the blind set like the others")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--to", type=Path, help="a JSON file for what each answer was told")
    parser.add_argument("--against", type=Path, help="such a file of before, to compare with")
    asked = parser.parse_args(arguments)
    sys.path.insert(0, str(STUDENTS))
    import unlisted

    warnings.simplefilter("ignore")
    if unknown := set(asked.sets) - set(unlisted.SETS):
        parser.error(f"there is no set {min(unknown)}: they go from 1 to {max(unlisted.SETS)}")
    counts, stored = {}, {}
    for number, task, answers in _tasks(unlisted, asked):
        name = f"set_{number:02}"
        for answer in answers:
            verdicts = [check(task, answer, seed=seed) for seed in range(asked.draws)]
            how = fared(verdicts)
            counts.setdefault(name, Counter())[how] += 1
            stored[f"{name} {task} {answer.__name__}"] = kept(verdicts)
            if number == unlisted.BLIND and not asked.open:
                continue
            if asked.say and (how != "cause" or not asked.no_cause):
                print(f"{how:8} {task} {answer.__name__}: {told(verdicts)}", flush=True)
                for finding in verdicts[0].findings:
                    print(f"    [{finding.name}] {finding.what}\n      {finding.effect}")
    print(table(counts))
    if asked.to:
        asked.to.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    if asked.against:
        before = json.loads(asked.against.read_text(encoding="utf-8"))
        print("\n".join(changes(before, stored)))


if __name__ == "__main__":
    main()
