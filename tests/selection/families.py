"""What `make test` runs of the families of tests that take long: the one place that says it.

A test that belongs to no family here runs every time. Of a family, `make test` runs a part that is
chosen once, by the rule below it: the same on every machine, whatever changed. What a change
touches by name runs whole beside it. `make test-all` runs everything.

A new family is one more `Family` in `FAMILIES`. Its rule has to leave a test for each mechanism,
since a rule that leaves none for something makes that something a promise nobody tries.
"""

import functools
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Processor seconds that `make test` may take for what a change touches, beside its fixed part.
MOST_TOUCHED_SECONDS = 200

# What a test takes that no family speaks for, by the first of its marks that stands here.
SECONDS = {"browser": 2.0, "sandbox": 2.5, "slow": 2.5, "": 0.05}


@dataclass(frozen=True)
class Test:
    """What rules see of a test.

    Attributes
    ----------
    module : str
        Its file, relative to `tests/`.
    name : str
        Of its function, without parameters.
    params : dict
        Its parameters, by their names.
    marks : frozenset of str
    """

    module: str
    name: str
    params: dict
    marks: frozenset[str]

    @property
    def label(self):
        """Its name and its parameters as a text, from which it is drawn: equal on every machine."""
        return " ".join([self.name, *(f"{key}={self.params[key]}" for key in sorted(self.params))])


def always(_):
    return True


def never(_):
    return False


def one_in(count, of=lambda test: test.label):
    """A rule that takes one in `count` of some tests, by a checksum of what they are called."""
    return lambda test: zlib.crc32(of(test).encode()) % count == 0


def nothing(_):
    return ()


@dataclass(frozen=True)
class Family:
    """Tests of one kind, of which there are many.

    Attributes
    ----------
    name : str
        As reports call it.
    modules : tuple of str
        Patterns of files, relative to `tests/`.
    fixed : callable
        test -> whether it is in the part that every `make test` runs.
    seconds : float
        Processor seconds that one of its tests takes, children included, as
        `python -m benchmarks.test_times` measures them.
    once : float
        What the first of a module takes beside: a class that is graded, a book that is built.
    holds : callable
        test -> whether it belongs to the family; all tests of its modules by default.
    about : callable
        test -> patterns of the files, relative to the project, by which a change touches it. The
        test's own module is always one of them.
    reads : tuple of str
        Folders and files that decide whether a test passes; by default all of the project.
    unit : callable
        test -> what stays together when tests are divided among machines.
    """

    name: str
    modules: tuple[str, ...]
    fixed: Callable
    seconds: float
    once: float = 0.0
    holds: Callable = always
    about: Callable = nothing
    reads: tuple[str, ...] = ()
    unit: Callable = field(default=lambda test: test.module)


def family_of(test):
    """The first family that a test belongs to, or None."""
    return next(
        (one for one in _families_of_module(test.module) if one.holds(test)),
        None,
    )


@functools.cache
def _families_of_module(module):
    return tuple(
        one for one in FAMILIES if any(fnmatch(module, pattern) for pattern in one.modules)
    )


def seconds_of(test):
    """What a test takes, as a rule."""
    family = family_of(test)
    if family is not None:
        return family.seconds
    return next(seconds for mark, seconds in SECONDS.items() if mark in test.marks or not mark)


# --- What tests are about ---------------------------------------------------------------------


def task_of(test):
    return test.params["task"]


def files_of_task(test):
    """Modules of a task, and those that the tasks of its chapter share."""
    return _files_of_task(task_of(test))


@functools.cache
def _files_of_task(task):
    chapter, name = task.split("/")
    own = name.replace("-", "_")
    tasks = {path.stem for path in (ROOT / "tests/tasks/students").glob(f"ch{chapter}_*/*.py")}
    found = []
    for package in ("course_judges", "course_tasks", "tests/tasks/students"):
        for path in (ROOT / package).glob(f"ch{chapter}_*/*.py"):
            if path.stem == own or path.stem not in tasks:
                found.append(path.relative_to(ROOT).as_posix())
    return tuple(found)


def files_of_chapter(test):
    """All that tasks of a chapter are made of."""
    chapter = test.params["chapter"]
    packages = ("course_judges", "course_tasks", "tests/tasks/students", "tests/tasks/unlisted/*")
    return tuple(f"{package}/ch{chapter}[_.]*" for package in packages)


def file_of_notebook(test):
    """The notebook itself."""
    return (test.params["notebook"].relative_to(ROOT).as_posix(),)


def file_of_page(test):
    """The source of a page, whose name is a parameter of its test."""
    return (f"{test.params.get('name', '-')}.*",)


def files_of_figure(test):
    """The figure that a module of tests, or a parameter, is named after."""
    stem = Path(test.module).stem.removeprefix("test_")
    names = {stem, *(value for value in test.params.values() if isinstance(value, str))}
    return tuple(f"course_figures/{name}.*" for name in names if re.fullmatch(r"[a-z_]+", name))


def folder_of_case(test):
    """The case of a threat."""
    case = test.params.get("case")
    return () if case is None else (f"tests/threats/cases/{case.name}/*",)


JUDGING = ("course_lib", "course_tasks", "course_judges", "tests/tasks", "solutions", "benchmarks")
DRAWING = ("course_lib", "course_figures", "book/_assets", "setup", "tests/book", "tests/figures")
GRADING = (
    *("course_lib", "course_tasks", "course_judges", "course_grader", "nbgrader_config.py"),
    *("solutions", "exercises", "tests/grading", "tests/threats"),
)


# A third of the notebooks is compared; two that are over soon show that the play stands in where
# there are no corpora.
ON_THE_PLAY = ("03-text", "04-bigram")


def notebook_is_fixed(test):
    stem = test.params["notebook"].stem
    on_the_play = test.name == "test_every_assertion_holds_on_the_play_without_data"
    return stem in ON_THE_PLAY if on_the_play else zlib.crc32(stem.encode()) % 3 == 0


# --- The families -----------------------------------------------------------------------------

# One page of each kind: the first, a chapter with figures, an exercise, a page of tables, of
# references, of terms, and what Sphinx makes itself.
KINDS_OF_PAGES = (
    *("book/index", "book/05-head", "exercises/01-averages/01-averages", "book/field-guide"),
    *("book/instructor-guide", "book/references", "book/glossary", "search"),
)

FAMILIES = (
    Family(
        "answers",
        ("tasks/test_judgement.py",),
        fixed=lambda test: test.name in ALL_OF_JUDGEMENT or one_in(6)(test),
        seconds=0.07,
        about=files_of_task,
        reads=JUDGING,
        unit=lambda test: test.params.get("task", ""),
        holds=lambda test: "task" in test.params,
    ),
    Family(
        "answers that do no work",
        ("tasks/test_empty_answers.py",),
        fixed=one_in(6, of=lambda test: task_of(test)),
        seconds=0.2,
        about=files_of_task,
        reads=JUDGING,
        unit=lambda test: test.params.get("task", ""),
        holds=lambda test: "task" in test.params,
    ),
    Family(
        "judges of a class",
        ("tasks/test_judge_of_a_class.py",),
        fixed=one_in(6),
        seconds=0.3,
        about=files_of_task,
        reads=JUDGING,
        holds=lambda test: "task" in test.params,
    ),
    Family(
        "answers that no list names",
        ("tasks/test_unlisted.py",),
        fixed=always,
        seconds=30,
        reads=JUDGING,
    ),
    Family(
        "changed solutions",
        ("tasks/test_mutants.py",),
        fixed=lambda test: test.params["chapter"] == "02",
        seconds=15,
        about=lambda test: (f"solutions/{test.params['chapter']}-*", *files_of_chapter(test)),
        reads=JUDGING,
        holds=lambda test: "chapter" in test.params,
    ),
    Family(
        "callables of the library",
        ("tasks/test_library_holds_no_answer.py",),
        fixed=lambda test: test.params["chapter"] in ("05", "11"),
        seconds=20,
        about=files_of_chapter,
        reads=(*JUDGING, "course_grader"),
    ),
    Family(
        "threats",
        ("threats/test_threats.py",),
        fixed=lambda test: "graded" in test.params and one_in(6, of=pair_of_cases)(test),
        seconds=1.5,
        once=10,
        about=folder_of_case,
        reads=GRADING,
        holds=lambda test: "sandbox" in test.marks and "case" in test.params,
        unit=lambda test: str(test.params.get("graded", "")),
    ),
    Family(
        "notebooks",
        ("notebooks/test_outputs.py",),
        fixed=notebook_is_fixed,
        seconds=15,
        about=file_of_notebook,
        holds=lambda test: "notebook" in test.params,
        unit=lambda test: test.label,
    ),
    Family(
        "pages",
        ("book/test_pages.py",),
        fixed=lambda test: test.params.get("name", KINDS_OF_PAGES[0]) in KINDS_OF_PAGES,
        seconds=3,
        about=file_of_page,
        holds=lambda test: "browser" in test.marks,
        unit=lambda test: test.label,
    ),
    Family(
        "figures",
        ("figures/*.py",),
        fixed=one_in(4),
        seconds=2,
        about=files_of_figure,
        reads=DRAWING,
        holds=lambda test: "browser" in test.marks,
    ),
)

ALL_OF_JUDGEMENT = frozenset(
    (
        "test_reference_gets_every_point",
        "test_at_least_three_right_styles_are_tried",
        "test_sections_named_in_feedback_exist_in_the_book",
    )
)


def pair_of_cases(test):
    """The name of a case; two that talk to each other prove nothing one without the other."""
    return test.params["case"].name.removesuffix("-back")
