"""Tests that take turns: of those that would show what they showed before, one in six is run.

A test marked `turns` names its subject: all files of this project that it depends on, as
`subjects.py` finds them. `record.json` beside this module keeps a digest of each subject with which
all of its tests have passed. If anything changes the digest, all of them run. If nothing does, they
take turns. A subject that is not in the record is run, and all of them are if it cannot be read.
"""

import json
import os
import random
from collections import Counter
from pathlib import Path

import pytest
import subjects

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_name("record.json")
TURNS = 6

ALL_DRAWS = "4"


def add_options(parser):
    """The options of pytest that ask for more or other tests than those that have their turn."""
    group = parser.getgroup("turns", "tests that take turns (CONTRIBUTING.md says which)")
    group.addoption("--all", action="store_true", help="run every test, whoever's turn it is")
    group.addoption(
        "--turn",
        type=int,
        choices=range(TURNS),
        help=f"which of {TURNS} turns it is; without this, it is drawn",
    )
    group.addoption(
        "--record",
        action="store_true",
        help="keep in tests/turns/record.json with which digests tests have passed",
    )


class Turns:
    """Chooses among the tests that take turns, and records which have passed.

    Every process that shares the tests has one. They choose the same, since they are given the same
    turn; the process that started the others hears of all results, and writes the record.
    """

    def __init__(self, config):
        self.config = config
        asked = config.option
        named = asked.keyword or any("::" in argument for argument in config.args)
        if asked.record and (named or os.environ.get("COURSE_TEST_DRAWS", ALL_DRAWS) != ALL_DRAWS):
            raise pytest.UsageError(
                "--record takes whole modules and all draws: leave out -k, the names of tests and "
                "COURSE_TEST_DRAWS"
            )
        if hasattr(config, "workerinput"):  # of pytest-xdist, which hands on the command line alone
            asked.turn = config.workerinput["turn"]
        elif asked.turn is None:
            asked.turn = random.randrange(TURNS)
        # Whoever names tests wants them to run.
        self.everything = asked.all or bool(named)
        self.of_subjects = {}
        self.counts = Counter()
        self.passed, self.failed = set(), set()
        self.tried = []

    def pytest_report_header(self):
        """Say what is run, and how to run the same again."""
        if self.everything:
            return "turns: everything that is asked for"
        turn = self.config.option.turn
        return f"turns: what changed, and 1 in {TURNS} of the rest (again: --turn={turn})"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        """Give a process that shares the tests the turn that was drawn."""
        node.workerinput["turn"] = self.config.option.turn

    @pytest.hookimpl(tryfirst=True)  # before pytest looks at -m: a subject is all of its tests
    def pytest_collection_modifyitems(self, items):
        """Leave out the tests that have passed with all they depend on, and not their turn."""
        kept, left_out, places = [], [], {}
        known = read()
        for item in items:
            subject = subject_of(item)
            if subject is None:
                kept.append(item)
                continue
            module = item.path.relative_to(self.config.rootpath).as_posix()
            self.of_subjects.setdefault((module, subject.name), []).append((item, subject.digest))
            place = places.setdefault(module, {})
            turn = place.setdefault(subject.together, len(place)) % TURNS
            changed = known.get(module, {}).get(subject.name) != subject.digest
            runs = self.everything or changed or turn == self.config.option.turn
            (kept if runs else left_out).append(item)
        items[:] = kept
        self.counts = Counter(run=len(kept), left_out=len(left_out))
        if left_out:
            self.config.hook.pytest_deselected(items=left_out)

    def pytest_runtest_logreport(self, report):
        """Remember how each test ended."""
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self):
        """Tell the process that writes the record what belongs together, or write it."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["turns"] = dict(self.counts), self._unchanged()
            return
        self.tried += self._unchanged()
        if self.config.option.record:
            write(self.tried, self.passed - self.failed)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Hear what another process had to run."""
        counts, tried = getattr(node, "workeroutput", {}).get("turns", ({}, []))
        self.counts = self.counts or Counter(counts)
        self.tried += tried

    def pytest_terminal_summary(self, terminalreporter):
        """Say how many tests were not run."""
        if self.counts["left_out"]:
            terminalreporter.write_line(
                f"{self.counts['left_out']} tests were left out, because they have passed with all "
                "that they depend on as it is now, and it was not their turn; --all runs them."
            )

    def _unchanged(self):
        """Module, subject, digest and tests, where all files are still as they were at the start:
        a test that passed with what was edited meanwhile says nothing about either.
        """
        if not self.config.option.record:
            return []
        subjects.forget()
        return [
            [module, name, found[0][1], [item.nodeid for item, _ in found]]
            for (module, name), found in self.of_subjects.items()
            if all(subject_of(item).digest == was for item, was in found)
        ]


def subject_of(test):
    """What a test's mark says it is about, or None for a test that takes no turns."""
    marker = test.get_closest_marker("turns")
    return marker and marker.kwargs["of"](test)


def read():
    """The record: module -> subject -> digest. Empty where it cannot be read, as two who merge
    leave it.
    """
    try:
        known = json.loads(RECORD.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    rows = known.items() if isinstance(known, dict) else ()
    return {module: row for module, row in rows if isinstance(row, dict)}


def write(tried, passed):
    """Put into the record each subject of which all tests have passed, and drop what is gone.

    Parameters
    ----------
    tried : list of (module, subject, digest, tests)
        All tests that a subject has, whether they were run or not.
    passed : set of str
    """
    known = {module: row for module, row in read().items() if (ROOT / module).is_file()}
    there = {}
    for module, name, digest, tests in tried:
        there.setdefault(module, set()).add(name)
        if passed.issuperset(tests):
            known.setdefault(module, {})[name] = digest
    for module, names in there.items():
        row = known.get(module, {})
        known[module] = {name: row[name] for name in sorted(row) if name in names}
    text = json.dumps(dict(sorted(known.items())), indent=1, ensure_ascii=False)
    beside = RECORD.with_suffix(".new")
    beside.write_text(text + "\n", encoding="utf-8")
    os.replace(beside, RECORD)
