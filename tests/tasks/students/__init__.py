"""Answers that students give: `chNN_name/` as in `course_tasks`, one module a task.

Each module holds
- RIGHT: style -> answer; at least three styles, all worth full points;
- WRONG: mistake -> answer; one for each mistake the judge names, in words of its own;
- ODD: list of (answer, finding): wrong in a way that no mistake explains, and the property that is
  said of it;
- TRICKS, where there are some: name -> (answer, points): ways to points without the work that they
  are for, and what they earn, which is nothing or what their honest part is worth;
- UNLISTED, where there are some: number of a set -> list of (answer, finding) as in ODD: answers
  that were written from the statement alone before the judge was tuned on them, one of each
  behavior that no list has;
- ACCEPTED, where there are some: number of a set -> list of (answer, why no check tells it from
  right ones);
- SCAFFOLD: the unfilled answer as it is released, where it is more than `unfilled`;
- SEEDS, where a check takes long: the draws to try.

A module without RIGHT is what students of several tasks write alike.
"""

import importlib
import os
import re
from pathlib import Path

from course_tasks import catalogue


def students_of(task):
    """The module with the answers to a task."""
    _, _, module = catalogue.module_of(task).partition(".")
    return importlib.import_module(f"students.{module}")


# A check of each seed has two draws. Fewer say less, and sooner: `make test-fast` asks for one.
DRAWS = int(os.environ.get("COURSE_TEST_DRAWS", "4"))


def seeds_of(task, most=DRAWS):
    """As many draws as are asked for, and as a task's time allows: one that trains says so."""
    return getattr(students_of(task), "SEEDS", range(DRAWS))[: min(most, DRAWS)]


def unfilled(*args, **kwargs):
    raise NotImplementedError


def source_of(task):
    """The text of a task's answers, to run where there are no tests, with what they share."""
    module = Path(students_of(task).__file__)
    text = module.read_text(encoding="utf-8")
    for line in re.findall(r"^from students\.\S+ import (?:\([^)]*\)|.*)$", text, re.MULTILINE):
        beside = module.with_name(line.split()[1].rpartition(".")[2] + ".py")
        text = text.replace(line, beside.read_text(encoding="utf-8"))
    return text
