"""The part of pytest that chooses: what `families.py` fixes, what a change touches, or everything.

Every process that shares the tests collects all of them and has to choose the same. So the process
that starts the others reads once what changed and what has passed, and hands that on.
"""

import os
import re
import shlex
from pathlib import Path

import families
import pytest
from changes import UnknownRevisionError, changes
from passed import Contents, Passed

ROOT = Path(__file__).parents[2]


def add_options(parser):
    """The options of pytest that ask for other tests than those which `make test` runs."""
    group = parser.getgroup("selection", "what runs (CONTRIBUTING.md, What runs when)")
    group.addoption("--all", action="store_true", help="every test")
    group.addoption(
        "--shard",
        metavar="N/OF",
        type=shard,
        help="of those the N-th part of OF that are about as long, for several machines",
    )
    group.addoption(
        "--fresh",
        action="store_true",
        help="with --all: also what has passed on this machine with every file as it is",
    )


def shard(text):
    """Read "2/4" as (2, 4)."""
    number, _, of = text.partition("/")
    if number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of):
        return int(number), int(of)
    raise ValueError(f"SHARD={text}: write which part of how many, such as 2/4")


class Selection:
    """Chooses what runs, and keeps what has passed."""

    def __init__(self, config):
        self.config = config
        asked = config.option
        # Whoever names tests wants them to run.
        named = bool(asked.keyword) or any("::" in argument for argument in config.args)
        self.everything = asked.all or named
        if not self.everything:
            os.environ.setdefault("COURSE_TEST_DRAWS", families.DRAWS)
        self.left_out = {}
        self.passed, self.failed = {}, set()
        self.kept = None
        if hasattr(config, "workerinput"):  # of pytest-xdist
            changed, self.since, known = config.workerinput["selection"]
            self.changed = tuple(changed)
        else:
            self.changed, self.since = ((), "") if self.everything else what_changed()
            known = ()
            if not named and hasattr(config, "cache"):
                self.kept = Passed(config.cache.mkdir("passed") / "tests.json")
                self.contents = Contents(ROOT)
                known = self.kept.tests(self.contents) if asked.all and not asked.fresh else ()
        self.known = frozenset(known)

    def pytest_report_header(self):
        """Say what is run."""
        if not self.everything:
            count = len(self.changed)
            return f"tests: the fixed part, and what {count} changed files touch ({self.since})"
        part = self.config.option.shard
        share = f", part {part[0]} of {part[1]}" if part else ""
        known = len(self.known)
        again = f", but for {known} that have passed here with all as it is now" if known else ""
        return f"tests: everything that is asked for{share}{again}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        """Give a process that shares the tests what was read."""
        node.workerinput["selection"] = list(self.changed), self.since, sorted(self.known)

    @pytest.hookimpl(tryfirst=True)  # before pytest looks at -m: a part is what it is
    def pytest_collection_modifyitems(self, items):
        """Leave out what is not to run."""
        tests = {item: seen(item) for item in items}
        if self.everything:
            chosen = self._of_this_shard(tests)
            kept = [item for item in items if item in chosen and item.nodeid not in self.known]
        else:
            chosen = self._fixed_and_touched(tests)
            kept = [item for item in items if item in chosen]
        if len(kept) < len(items):
            stays = set(kept)
            self.config.hook.pytest_deselected(items=[one for one in items if one not in stays])
        items[:] = kept

    def _refuse_idle_rules(self, fixed):
        """A rule that chooses nothing would be a promise that nobody tries."""
        if self.config.args != self.config.getini("testpaths"):
            return
        tried = set(map(families.family_of, fixed))
        if idle := [
            one.name
            for one in families.FAMILIES
            if one not in tried and one.fixed is not families.none
        ]:
            raise pytest.UsageError(
                f"tests/selection/families.py: make test would run none of {', '.join(idle)}; give "
                "the family another rule, or delete it if its tests are gone"
            )

    def _of_this_shard(self, tests):
        part = self.config.option.shard
        if not part:
            return set(tests)
        number, of = part
        return {item for item, place in shards(tests, of).items() if place == number}

    def _fixed_and_touched(self, tests):
        chosen, touched = set(), {}
        fixed = fixed_part(tests.values())
        self._refuse_idle_rules(fixed)
        for item, test in tests.items():
            family = families.family_of(test)
            if test in fixed:
                chosen.add(item)
            elif file := self._touching(family, test):
                touched.setdefault((family, test.module, file), []).append(item)
        room = families.MOST_TOUCHED_SECONDS
        for (family, module, _), found in touched.items():
            once, fit = family.once, 0
            for item in found:
                takes = once + families.seconds_of(tests[item])
                if takes > room:
                    break
                room, once, fit = room - takes, 0, fit + 1
            chosen.update(found[:fit])
            if found[fit:]:
                self.left_out[module] = self.left_out.get(module, 0) + len(found[fit:])
        return chosen

    def _touching(self, family, test):
        """The first file that changed and that a test is about, or ""."""
        about = (f"tests/{test.module}", *family.about(test))
        return families.first_match(self.changed, about)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item):
        """Send with each report what the test reads."""
        report = (yield).get_result()
        report.reads = reads_of(item)

    def pytest_runtest_logreport(self, report):
        """Remember how each test ended."""
        if report.outcome != "passed":
            self.failed.add(report.nodeid)
        elif report.when == "call":
            self.passed.setdefault(tuple(report.reads), set()).add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self):
        """Hand on what was left out, or keep what has passed."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["left out"] = self.left_out
        elif self.kept and self.passed:
            now = Contents(ROOT)
            # A test that passed while somebody edited what it reads says nothing of either.
            still = {
                places: names - self.failed
                for places, names in self.passed.items()
                if now.digest(places) == self.contents.digest(places)
            }
            self.kept.add(now, still)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Hear what was left out."""
        self.left_out |= getattr(node, "workeroutput", {}).get("left out", {})

    def pytest_terminal_summary(self, terminalreporter):
        """Say in one line what a change touches and did not run, with the command that runs it."""
        if self.left_out:
            modules = shlex.join(f"tests/{module}" for module in sorted(self.left_out))
            terminalreporter.write_line(
                f"Left out, as ten minutes reach no further: {sum(self.left_out.values())} tests "
                f'that the change touches. make test-all ARGS="{modules}" runs them.'
            )


def what_changed():
    """What changed, with words for since when."""
    try:
        return changes(ROOT, os.environ.get("SINCE", ""))
    except UnknownRevisionError as error:
        raise pytest.UsageError(str(error)) from None


def seen(item):
    """A test as rules see it."""
    return families.Test(
        module=item.path.relative_to(ROOT / "tests").as_posix(),
        name=getattr(item, "originalname", item.name),
        params=dict(item.callspec.params) if hasattr(item, "callspec") else {},
        marks=frozenset(mark.name for mark in item.iter_markers()),
        case=item.callspec.id if hasattr(item, "callspec") else "",
    )


def fixed_part(tests):
    """The tests that every `make test` runs."""
    members = {}
    for test in tests:
        members.setdefault(families.family_of(test), []).append(test)
    return {
        test
        for family, found in members.items()
        for test in (family.fixed(found) if family else found)
    }


def reads_of(item):
    """What decides whether a test passes: what its family says, and a file it is named after."""
    family = families.family_of(seen(item))
    if family is None or not family.reads:
        return ()
    named = re.search(r"\[(.+)\]$", item.nodeid)
    own = (named[1],) if named and (ROOT / named[1]).is_file() else ()
    return (*family.reads, f"tests/{family.modules[0]}", "tests/conftest.py", *own)


def shards(tests, of):
    """Divide tests among machines, so that each has about as much to do.

    Parameters
    ----------
    tests : dict
        Item -> Test.
    of : int
        How many machines.

    Returns
    -------
    dict
        Item -> the number of its machine, from 1.
    """
    units = {}
    for item, test in tests.items():
        family = families.family_of(test)
        name = family.unit(test) if family else ""
        units.setdefault((test.module, name), []).append(item)

    def seconds(members):
        family = families.family_of(tests[members[0]])
        once = family.once if family else 0
        return once + sum(families.seconds_of(tests[one]) for one in members)

    load = [0.0] * of
    place = {}
    for _, members in sorted(units.items(), key=lambda unit: (-seconds(unit[1]), unit[0])):
        least = load.index(min(load))
        load[least] += seconds(members)
        place |= dict.fromkeys(members, least + 1)
    return place
