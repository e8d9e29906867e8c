"""Where the time of the tests goes: processor seconds by family, children included.

    python -m benchmarks.test_times                      # what `make test` runs
    python -m benchmarks.test_times --all tests/figures  # some of all
    python -m benchmarks.test_times --slowest 20 tests/cli

Words after the options go to pytest. Processor seconds are those of the tests and of every process
that they start: they hardly depend on what else the machine does, and two cores have 1200 of them
in ten minutes. `tests/selection/families.py` holds the seconds of one test of each family; this
prints what they are now beside them.
"""

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[1]


class Clock:
    """A plug-in of pytest that reads the processor's clock before and after each test."""

    def __init__(self, lines=None):
        self.lines = lines
        self.me = psutil.Process()
        self.seconds = {}
        self.families = {}
        self.collected = 0.0

    def now(self):
        """Processor seconds of this process and of all that it has started."""
        spent = os.times()
        total = spent.user + spent.system + spent.children_user + spent.children_system
        for child in self.me.children(recursive=True) if self.has_children() else ():
            try:
                its = child.cpu_times()
            except psutil.NoSuchProcess:  # ended, and is among the children's seconds next time
                continue
            total += its.user + its.system + its.children_user + its.children_system
        return total

    def has_children(self):
        """Whether anything runs that this process has started; psutil takes longer to say so."""
        for thread in Path(f"/proc/{self.me.pid}/task").iterdir():
            try:
                if (thread / "children").read_text():
                    return True
            except FileNotFoundError:  # the thread has ended, and its children are another's
                continue
        return False

    def pytest_collection_finish(self, session):
        """Note how long collecting took, and which family each test is of."""
        import selecting  # beside the tests, where pytest finds it

        self.collected = self.now()
        for item in session.items:
            test = selecting.seen(item)
            family = selecting.families.family_of(test)
            self.families[item.nodeid] = family.name if family else f"({test.module.split('/')[0]})"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        """Measure a test with its fixtures."""
        before = self.now()
        yield
        self.seconds[item.nodeid] = self.now() - before
        if self.lines:  # at once, so that a run that is cut off was not in vain
            line = json.dumps([self.families[item.nodeid], item.nodeid, self.seconds[item.nodeid]])
            with self.lines.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--slowest", type=int, default=0, help="name so many tests, too")
    parser.add_argument("--lines", type=Path, help="add a line for each test there, at once")
    asked, rest = parser.parse_known_args()
    clock, start = Clock(asked.lines), time.monotonic()
    state = pytest.main(["-q", "-p", "no:xdist", *rest], plugins=[clock])
    wall = time.monotonic() - start
    families = defaultdict(list)
    for name, seconds in clock.seconds.items():
        families[clock.families[name]].append(seconds)
    print(f"\n{'':34}{'tests':>7}{'seconds':>9}{'each':>8}")
    rows = sorted(families.items(), key=lambda row: -sum(row[1]))
    for name, found in rows:
        print(f"{name:34}{len(found):7}{sum(found):9.1f}{sum(found) / len(found):8.2f}")
    print(f"{'collecting':34}{'':7}{clock.collected:9.1f}")
    total = clock.now()
    print(f"{'all':34}{len(clock.seconds):7}{total:9.1f}   in {wall:.0f} s by the clock")
    for name, seconds in sorted(clock.seconds.items(), key=lambda one: -one[1])[: asked.slowest]:
        print(f"{seconds:9.1f}  {name}")
    return int(state)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
