"""Twelve clones, each broken in one place that no test is named after: is `make test` red in each?

    python -m benchmarks.broken_clones ../clone              # all twelve, one after the other
    python -m benchmarks.broken_clones ../clone --only release play

The folder becomes a clone of the last commit, set up as `make test` does it. Each break is a commit
of its own on top, so that the tests run as they do for whoever pulls it, and is taken back after.
A run ends at its first failure. Without `--only`, the clone is also run as it is, which is green.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Break(NamedTuple):
    """One line that is wrong: what is broken, in which file, and both lines."""

    what: str
    file: str
    right: str
    wrong: str


BREAKS = {
    "judge": Break(
        "a judge takes an answer for right of which one number is",
        "course_judges/equality.py",
        "bool(close(one, other).all())",
        "bool(close(one, other).any())",
    ),
    "filter": Break(
        "the filter of system calls refuses sockets of files and allows those of the network",
        "course_tasks/runner/seccomp.py",
        '("socket", (41, 198), errno.EAFNOSUPPORT, (Test(0, "not", (socket.AF_UNIX,)),)),',
        '("socket", (41, 198), errno.EAFNOSUPPORT, (Test(0, "not", (socket.AF_INET,)),)),',
    ),
    "gradebook": Break(
        "grades are committed before the run that they came from",
        "course_grader/gradebook/record.py",
        """                self._take_off(submission, one.outcome.student)
            session.flush()
""",
        """                self._take_off(submission, one.outcome.student)
            session.commit()
""",
    ),
    "softmax": Break(
        "a figure's softmax divides by a little more than the sum",
        "course_figures/runtime/softmax.js",
        "weights[to + i] /= sum;",
        "weights[to + i] /= sum + 0.01;",
    ),
    "page": Break(
        "the panel of contents stays open over the page after a choice",
        "book/_assets/reading.js",
        'link?.closest("dialog").close();',
        'link?.closest("dialog");',
    ),
    "corpus": Break(
        "less of a text is for training than chapters say",
        "course_lib/data/corpora.py",
        "TRAIN_SHARE_OF_TEXT = 0.9 ",
        "TRAIN_SHARE_OF_TEXT = 0.8 ",
    ),
    "chapter": Break(
        "a number in a chapter is not what its run gives",
        "book/06-heads.ipynb",
        '"ModuleList:  432\\n"',
        '"ModuleList:  423\\n"',
    ),
    "release": Break(
        "an exercise that differs from its solution is not noticed",
        "course_grader/release.py",
        """        if not path.is_file() or path.read_bytes() != content
    ]
    stale""",
        """        if not path.is_file()
    ]
    stale""",
    ),
    "collect": Break(
        "the mark of a late submission becomes a part of the student's name",
        "course_grader/lms/owners.py",
        ' and not said.endswith("_LATE")',
        "",
    ),
    "checkpoint": Break(
        "a checkpoint forgets what is noted beside its weights",
        "course_lib/checkpoints.py",
        '"facts": json.dumps(dict(facts))}',
        '"facts": json.dumps({})}',
    ),
    "play": Break(
        "the play's words have other weights than the grammar says",
        "course_lib/data/play/grammar.py",
        "(24 * len(listed) //",
        "(25 * len(listed) //",
    ),
    "exchange": Break(
        "a model of JAX comes back to torch without its biases",
        "course_lib/jax_exchange.py",
        'state[f"{place}.bias"] = tree[name]["bias"]',
        'state[f"{place}.bias"] = 0 * tree[name]["bias"]',
    ),
}


class GoneError(ValueError):
    """What was to be broken is not there any more."""


def broken(clone, one):
    """Write one break into a clone."""
    path = clone / one.file
    text = path.read_text(encoding="utf-8")
    if text.count(one.right) != 1:
        raise GoneError(
            f"{one.file} holds {one.right!r} {text.count(one.right)} times; "
            "write into BREAKS what stands there now"
        )
    path.write_text(text.replace(one.right, one.wrong), encoding="utf-8")


def git(clone, *arguments):
    me = ("-c", "user.name=clone", "-c", "user.email=clone@example.org")
    subprocess.run(["git", "-C", clone, *me, *arguments], check=True, stdout=subprocess.DEVNULL)


def tests(clone, *options):
    """Run the clone's `make test`: its exit code, the first failure, and seconds by the clock."""
    start = time.monotonic()
    done = subprocess.run(
        ["make", "test", f"ARGS={' '.join(options)}"],
        cwd=clone,
        env={name: value for name, value in os.environ.items() if name != "SINCE"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    last = done.stdout.strip().splitlines()[-1:] or [done.stderr[-200:]]
    seconds = time.monotonic() - start
    return done.returncode, found[1] if found else last[0], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("clone", type=Path, help="a folder that is not there yet, or an old clone")
    parser.add_argument("--only", nargs="+", choices=BREAKS, default=[], metavar="NAME")
    parser.add_argument("--list", action="store_true", help="only see that each has its place")
    asked = parser.parse_args()
    if not asked.clone.exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, asked.clone], check=True)
    clone = asked.clone.resolve()
    green = []
    for name, one in BREAKS.items():
        if asked.only and name not in asked.only:
            continue
        broken(clone, one)
        if asked.list:
            git(clone, "checkout", "--quiet", ".")
            print(f"{name:18} {one.file}: {one.what}")
            continue
        git(clone, "commit", "--quiet", "--all", "--message", one.what)
        try:
            state, failure, seconds = tests(clone, "-x")
        finally:
            git(clone, "reset", "--quiet", "--hard", "HEAD~1")
        green += [name] if state == 0 else []
        print(
            f"{name:18} {'GREEN' if state == 0 else 'red':5} {seconds:5.0f} s  {failure}",
            flush=True,
        )
    if not asked.only and not asked.list:
        state, said, seconds = tests(clone)
        print(f"{'(not broken)':18} {'green' if state == 0 else 'RED':5} {seconds:5.0f} s  {said}")
        green += [] if state == 0 else ["(not broken)"]
    return len(green)


if __name__ == "__main__":
    sys.exit(main())
