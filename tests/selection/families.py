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

# In how many draws an answer is judged; `make test-all` asks in twice as many.
DRAWS = "2"

# Processor seconds that `make test` may take for what a change touches, beside its fixed part.
MOST_TOUCHED_SECONDS = 90

# What a test takes that no family speaks for, by the first of its marks that stands here.
SECONDS = {"browser": 0.8, "sandbox": 0.7, "slow": 2.0, "": 0.05}


@dataclass(frozen=True, eq=False)
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
    case : str
        What pytest writes in brackets behind the name.
    """

    module: str
    name: str
    params: dict
    marks: frozenset[str]
    case: str = ""

    @property
    def label(self):
        """A text from which it is drawn: equal in every process and on every machine, unlike the
        parameters themselves, among which are functions and paths.
        """
        return f"{self.name}[{self.case}]"


def none(_):
    """A rule that takes no test: others try the same promise at less cost."""
    return ()


def where(holds):
    """A rule that takes the tests of which something is true."""
    return lambda tests: [test for test in tests if holds(test)]


def one_in(count, each=lambda test: (test.module, test.name)):
    """A rule that takes about one in `count` of the tests, and one of each kind at least.

    Which they are is drawn by a checksum of their names, so new tests change nothing for others.

    Parameters
    ----------
    count : int or callable
        How many stand for one; callable: the kind's name -> how many.
    each : callable
        test -> its kind.
    """

    def choose(tests):
        kinds = {}
        for test in tests:
            kinds.setdefault(each(test), []).append((zlib.crc32(test.label.encode()), test))
        for kind, found in kinds.items():
            share = count(kind) if callable(count) else count
            drawn = [test for number, test in found if number % share == 0]
            yield from drawn or [min(found, key=lambda one: one[0])[1]]

    return choose


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
        Tests of the family -> those that every `make test` runs. It is given whole modules.
    seconds : float or callable
        Processor seconds that one of its tests takes, children included, as
        `python -m benchmarks.test_times` measures them; callable: test -> its seconds.
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
    seconds: float | Callable
    once: float = 0.0
    holds: Callable = lambda test: True
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
        return family.seconds(test) if callable(family.seconds) else family.seconds
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
    own_folder = f"ch{chapter}_*" if chapter.isdigit() else f"project_{chapter.replace('-', '_')}"
    students = (ROOT / "tests/tasks/students").glob(f"{own_folder}/*.py")
    tasks = {path.stem for path in students}
    found = []
    for package in ("course_judges", "course_tasks", "tests/tasks/students"):
        for path in (ROOT / package).glob(f"{own_folder}/*.py"):
            if path.stem == own or path.stem not in tasks:
                found.append(path.relative_to(ROOT).as_posix())
    return tuple(found)


def blind_set_of(test):
    """The module of the blind set that holds answers to a task."""
    return f"tests/tasks/blind_set/ch{task_of(test).partition('/')[0]}.py"


def files_of_chapter(test):
    """All that tasks of a chapter are made of."""
    chapter = test.params["chapter"]
    packages = ("course_judges", "course_tasks", "tests/tasks/students", "tests/tasks/blind_set")
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


PACKAGES = ("course_lib", "course_tasks", "course_judges", "course_figures", "course_grader")
JUDGING = ("course_lib", "course_tasks", "course_judges", "tests/tasks", "solutions", "benchmarks")
DRAWING = ("course_lib", "course_figures", "book/_assets", "setup", "tests/book", "tests/figures")
GRADING = (
    *("course_lib", "course_tasks", "course_judges", "course_grader", "nbgrader_config.py"),
    *("solutions", "exercises", "tests/grading", "tests/threats"),
)


# --- The rules --------------------------------------------------------------------------------

# Of the answers to each task so many stand for one, and one of each kind is judged for every task.
# All right answers of the judges are, and each part of each rubric is lost by some wrong answer.
ANSWERS_FOR_ONE = {
    "test_reference_gets_every_point": 1,
    "test_at_least_three_right_styles_are_tried": 1,
    "test_sections_named_in_feedback_exist_in_the_book": 1,
    "test_every_part_of_the_rubric_is_lost_by_a_wrong_answer": 1,
    "test_trick_earns_no_more_than_the_work_in_it": 1,
    "test_mistake_is_rejected_called_by_its_name_and_explained": 12,
    "test_judges_own_copy_of_a_mistake_is_recognized": 24,
    "test_odd_answer_is_rejected_and_described_by_what_is_true_of_it": 12,
    "test_nonsense_earns_nothing_and_raises_nothing": 7,
}
# Their operations are compiled, or they train: a second or more for an answer.
TASKS_THAT_TAKE_LONG = ("04/sample", "08/train", "10/", "11/which-head", "12/drafts", "my-gpt/")


def seconds_of_answer(test):
    return 1.5 if task_of(test).startswith(TASKS_THAT_TAKE_LONG) else 0.08


def answers(tests):
    """Every rubric's parts; of the answers of each kind, one for each task and some more."""
    quick = [one for one in tests if not task_of(one).startswith(TASKS_THAT_TAKE_LONG)]
    slow = [one for one in tests if task_of(one).startswith(TASKS_THAT_TAKE_LONG)]
    every = where(lambda test: ANSWERS_FOR_ONE.get(test.name, 6) == 1)
    yield from every(tests)
    by_task = one_in(
        lambda kind: ANSWERS_FOR_ONE.get(kind[0], 6), each=lambda test: (test.name, task_of(test))
    )
    per_test = [one for one in quick if ANSWERS_FOR_ONE.get(one.name, 6) > 1]
    parametrized = [one for one in per_test if len(one.params) > 1]
    yield from by_task(parametrized)
    yield from one_in(6)([one for one in per_test if len(one.params) == 1])
    yield from one_in(40)([one for one in slow if ANSWERS_FOR_ONE.get(one.name, 6) > 1])


# A third of the notebooks, the same one always: every second solution, which has all kinds of tasks
# and an experiment, but for those that train for long, the first chapters, and one page of figures.
# One chapter shows that the play stands in where there are no corpora.
ON_THE_PLAY = "03-text"
SOLUTIONS_THAT_TRAIN = ("05-head", "07-block")
SHORT_CHAPTERS = ("01-averages", "02-affinities", "gallery-whole")
# Processor seconds of those that take long; solutions and pages of figures take some four.
SECONDS_OF_NOTEBOOKS = {
    **{"book/01-averages": 17, "book/02-affinities": 14, "book/03-text": 29, "book/04-bigram": 68},
    **{"book/11-looking-inside": 26, "book/gallery-whole": 4, "solutions/05-head": 10},
    **{"solutions/07-block": 26},
}


def notebook_of(test):
    path = test.params["notebook"]
    return f"{'solutions' if 'solutions' in path.parts else 'book'}/{path.stem}"


def third_of_notebooks(test):
    name = notebook_of(test)
    if test.name == "test_every_assertion_holds_on_the_play_without_data":
        return name == f"book/{ON_THE_PLAY}"
    folder, _, stem = name.partition("/")
    if folder == "solutions" and stem[:2].isdigit():
        return int(stem[:2]) % 2 == 1 and stem not in SOLUTIONS_THAT_TRAIN
    return stem in SHORT_CHAPTERS


def seconds_of_notebook(test):
    name = notebook_of(test)
    return SECONDS_OF_NOTEBOOKS.get(name, 4 if name.startswith("solutions/") else 80)


def threats(tests):
    """Some of each class of the threat model. Of two that talk to each other, both."""
    drawn = one_in(10, each=lambda test: name_of_case(test).partition("/")[0])(tests)
    names = {name_of_case(test).removesuffix("-back") for test in drawn}
    return [test for test in tests if name_of_case(test).removesuffix("-back") in names]


def name_of_case(test):
    return test.params["case"].name


def figures(tests):
    """Each way in which any figure is tried, with one of them at least; some of each one's own."""
    of_any = [test for test in tests if test.module == "figures/test_mechanism.py"]
    yield from one_in(8)(of_any)
    yield from one_in(6, each=lambda test: test.module)([one for one in tests if one not in of_any])


# One page of each kind: the first, a chapter with figures, an exercise, pages of tables, of
# references and of terms, and what Sphinx makes itself.
KINDS_OF_PAGES = (
    *("book/index", "book/05-head", "exercises/01-averages/01-averages", "book/field-guide"),
    *("book/notation", "book/references", "book/glossary", "search"),
)


def pages(tests):
    """Each kind of page is walked, and every figure's room measured; of what else pages do, each
    with half of its cases.
    """
    rooms = [one for one in tests if one.module.endswith("test_figure_room.py")]
    yield from where(lambda test: "gallery" in test.params["name"])(rooms)
    others = [one for one in tests if one not in rooms]
    yield from where(lambda test: test.params.get("name") in KINDS_OF_PAGES)(others)
    yield from one_in(2)([one for one in others if "name" not in one.params])


# Tests that take long, and the quicker ones that try the same promise.
AT_LESS_COST = {
    "book/test_field_guide.py::test_guide_breaks_no_rule_of_accessibility_in_either_theme": (
        "test_pages.py, which looks at the guide's page as at one of each kind"
    ),
    "grading/test_bounds.py::test_graders_own_process_holds_no_more_for_hostile_files": (
        "test_collect_hostile.py, where no file takes much memory, and the others of test_bounds.py"
    ),
    "grading/test_containers.py::test_container_that_ends_in_a_run_*": (
        "test_doubtful_runs.py and test_supervision.py, where processes end so"
    ),
    "grading/test_interpreter_files.py::test_every_wall_holds_with_packages_that_a_link_finds_*": (
        "test_interpreter_files.py, whose others move the whole interpreter"
    ),
    "jax/test_jax_model.py::test_flax_model_with_the_same_tree_gives_the_same_logits": (
        "test_jax_model.py, whose others compare with PyTorch"
    ),
    "grading/test_cluster.py::test_worker_killed_in_the_middle_costs_nobody_anything": (
        "test_cluster_of_four.py, test_interrupted_grading.py"
    ),
    "grading/test_formgrader.py::test_buttons_clicked_with_a_hostile_folder_run_nothing_of_it": (
        "test_formgrader.py, whose others click the buttons, and the cases in tests/threats"
    ),
    "grading/test_check_notebook.py::test_each_thing_that_goes_wrong_is_named_*": (
        "test_check_notebook.py, whose others name them one by one"
    ),
    "grading/test_class.py::test_grade_check_and_course_check_agree_on_a_class": (
        "test_class.py, whose others hold the check and the judge of a class side by side"
    ),
    "grading/test_nbgrader_steps.py::test_all_steps_leave_a_hostile_folder_unread": (
        "test_formgrader.py, which takes a class through the same commands, and tests/threats"
    ),
    "grading/test_nbgrader_steps.py::test_no_file_that_is_odd_stops_anyone_or_is_followed": (
        "test_bounds.py, and the cases in tests/threats"
    ),
    "grading/test_record.py::test_postgresql_by_address_does_all_of_it": (
        "test_batch.py, which grades a class in PostgreSQL"
    ),
    "grading/test_release.py::test_nbgraders_own_command_makes_the_same_exercise": (
        "test_release.py, whose others hold exercises and solutions together"
    ),
    "threats/test_threats.py::test_hogs_cost_nobody_points_where_honest_notebooks_take_long": (
        "the tests of clocks, where a run beside a hog loses nothing, and the other threats"
    ),
    "figures/test_jupyterlab.py::test_every_figure_is_live_in_jupyterlab_and_tells_python": (
        "the same module's other test, where one figure is, and test_mechanism.py, where all are"
    ),
    "figures/test_modules.py::test_scripts_of_a_page_hand_over_what_its_figures_need_*": (
        "the pages of the book, which load the scripts of their own figures and no others"
    ),
    "publishing/test_inline_diagrams.py::test_book_holds_the_drawing_in_its_page": (
        "test_inline_diagrams.py, whose others make the drawings, without a book around them"
    ),
    "publishing/test_site.py::test_more_cores_build_the_same_site": (
        "every test of the book, which all cores of the machine build"
    ),
    "tasks/test_mutants.py::test_listed_equivalents_are_mutants_of_the_solution_*": (
        "test_mutants.py, whose sample of changed solutions looks them up"
    ),
    "grading/test_copies.py::test_copy_of_a_postgresql_gradebook_says_the_same": (
        "test_batch.py, which grades a class in PostgreSQL"
    ),
}

# The same of single cases, whose test has others that are quicker.
CASES_AT_LESS_COST = (
    "test_judge_of_a_class_and_check_agree[08-gpt]",
    "test_check_meets_what_a_graded_run_meets[no sandbox]",
    "test_judge_of_a_class_and_check_agree[first_mistake-08-gpt]",
)


def key_of(test):
    return f"{test.module}::{test.name}"


def stands_for_another(test):
    """Whether `AT_LESS_COST` names a test, or `CASES_AT_LESS_COST` one of its cases."""
    return test.label in CASES_AT_LESS_COST or named_in(test, AT_LESS_COST)


def named_in(test, patterns):
    """Whether one of some patterns, such as "cli/test_hint.py::test_*", is a test's."""
    return first_match((key_of(test),), tuple(patterns)) != ""


@functools.cache
def first_match(names, patterns):
    """The first of some names that one of some patterns fits, or "": many tests ask the same."""
    return next((one for one in names if any(fnmatch(one, p) for p in patterns)), "")


# What runs every time of the tests that take seconds, whatever the rule draws beside them.
ALWAYS = (
    "grading/test_selftest.py::test_every_wall_holds",
    "jax/test_jax_model.py::test_logits_loss_and_gradients_are_those_of_torch",
    "grading/test_term.py::test_every_command_ends_as_the_page_says",
    "grading/test_formgrader.py::test_nbgraders_commands_use_the_sandbox_and_the_judge",
    "page/test_in_browser.py::test_answers_are_judged_in_the_page",
    "page/test_in_browser.py::test_an_assignment_done_in_the_page_*",
    "publishing/test_site.py::test_a_warning_fails_the_build_and_the_last_good_site_stays",
)
TAKES_SECONDS = frozenset({"slow", "sandbox", "browser"})


def half_of_each_module(tests):
    """What runs `ALWAYS`, and half of the others: a module, which holds one promise, has one."""
    yield from where(lambda test: named_in(test, ALWAYS))(tests)
    yield from one_in(2, each=lambda test: test.module)(
        [one for one in tests if not named_in(one, ALWAYS)]
    )


def files_of_the_same_name(test):
    """Modules and scripts that a module of tests is named after."""
    stem = Path(test.module).stem.removeprefix("test_")
    return tuple(
        f"{folder}/*{stem}.*" for folder in ("course_grader", "course_page", "book", "setup")
    )


# Of solutions and unfilled exercises, those that the sandbox is given every time.
GRADED_ASSIGNMENTS = ("01-averages", "12-faster")


def starts_anew(test):
    """Whether a test runs once more with runs that start from nothing, or without bubblewrap.

    Every wall is tried where runs start warm, as they do wherever they can.
    """
    return not {"cold", "bare"}.isdisjoint(
        value for value in test.params.values() if isinstance(value, str)
    )


# --- The families -----------------------------------------------------------------------------

FAMILIES = (
    Family(
        "what is shown at less cost",
        ("*.py",),
        fixed=none,
        seconds=15,
        about=files_of_the_same_name,
        holds=stands_for_another,
    ),
    Family(
        "answers",
        ("tasks/test_judgement.py",),
        fixed=answers,
        seconds=seconds_of_answer,
        about=files_of_task,
        reads=(*JUDGING, "book"),
        unit=lambda test: task_of(test),
        holds=lambda test: "task" in test.params,
    ),
    Family(
        "answers that do no work",
        ("tasks/test_empty_answers.py",),
        fixed=one_in(8),
        seconds=0.2,
        about=files_of_task,
        reads=JUDGING,
        unit=lambda test: task_of(test),
        holds=lambda test: "task" in test.params,
    ),
    Family(
        "judges of a class",
        ("tasks/test_judge_of_a_class.py",),
        fixed=one_in(8),
        seconds=0.3,
        about=files_of_task,
        reads=JUDGING,
        holds=lambda test: "task" in test.params,
    ),
    Family(
        "answers that no list names",
        ("tasks/test_unlisted.py",),
        fixed=where(lambda test: test.params["task"].startswith("02/")),
        seconds=0.5,
        about=lambda test: (*files_of_task(test), blind_set_of(test)),
        reads=JUDGING,
        unit=lambda test: task_of(test),
        holds=lambda test: "task" in test.params,
    ),
    Family(
        "changed solutions",
        ("tasks/test_mutants.py",),
        fixed=where(lambda test: test.params["chapter"] == "02"),
        seconds=15,
        about=lambda test: (f"solutions/{test.params['chapter']}-*", *files_of_chapter(test)),
        reads=JUDGING,
        holds=lambda test: "chapter" in test.params,
    ),
    Family(
        "callables of the library",
        ("tasks/test_library_holds_no_answer.py",),
        fixed=where(lambda test: test.params["chapter"] == "05"),
        seconds=20,
        about=files_of_chapter,
        reads=(*JUDGING, "course_grader"),
    ),
    Family(
        "threats",
        ("threats/test_threats.py",),
        fixed=threats,
        seconds=1.5,
        once=10,
        about=folder_of_case,
        reads=GRADING,
        holds=lambda test: "case" in test.params and "graded" in test.params,
        unit=lambda test: str(test.params["graded"]),
    ),
    Family(
        "notebooks",
        ("notebooks/test_outputs.py",),
        fixed=where(third_of_notebooks),
        seconds=seconds_of_notebook,
        about=file_of_notebook,
        reads=(*PACKAGES, "tests/notebooks", "benchmarks/results", "book/_assets"),
        holds=lambda test: "notebook" in test.params,
        unit=lambda test: test.label,
    ),
    Family(
        "pages",
        ("book/test_pages.py", "book/test_figure_room.py"),
        fixed=pages,
        seconds=3,
        about=file_of_page,
        holds=lambda test: "browser" in test.marks,
        unit=lambda test: test.label,
    ),
    Family(
        "verdicts in a page",
        ("page/test_acceptance.py",),
        fixed=where(lambda test: test.name == "test_one_right_answer_and_one_mistake_of_each_task"),
        seconds=3,
        about=files_of_chapter,
        reads=(*JUDGING, "course_page", "tests/page"),
        holds=lambda test: "chapter" in test.params,
        unit=lambda test: test.label,
    ),
    Family(
        "cells that run in a page",
        ("page/test_runs.py",),
        fixed=where(lambda test: test.params["chapter"][:2] in ("05", "12")),
        seconds=10,
        about=lambda test: (f"book/{test.params['chapter']}.ipynb",),
        reads=("course_lib", "course_page", "book", "tests/page"),
        holds=lambda test: "chapter" in test.params,
        unit=lambda test: test.label,
    ),
    Family(
        "links of both editions",
        ("book/test_links.py",),
        fixed=where(lambda test: test.params["edition"] == "book"),
        seconds=15,
        about=lambda _: ("solutions/*",),
        holds=lambda test: "edition" in test.params,
    ),
    Family(
        "figures",
        ("figures/*.py",),
        fixed=figures,
        seconds=0.8,
        about=files_of_figure,
        reads=DRAWING,
        holds=lambda test: "browser" in test.marks and "slow" not in test.marks,
    ),
    Family(
        "assignments in the sandbox",
        ("grading/test_class.py",),
        fixed=where(lambda test: test.params["assignment"] in GRADED_ASSIGNMENTS),
        seconds=6,
        about=lambda test: (
            f"solutions/{test.params['assignment']}/*",
            f"exercises/{test.params['assignment']}/*",
        ),
        reads=GRADING,
        holds=lambda test: "assignment" in test.params,
    ),
    Family(
        "types of the judges",
        ("test_house.py",),
        fixed=none,
        seconds=30,
        about=lambda _: ("course_judges/*.py",),
        holds=lambda test: test.case == "types of the judges",
    ),
    Family(
        "ways to start a run",
        ("grading/*.py",),
        fixed=one_in(4, each=lambda test: test.module),
        seconds=3,
        reads=GRADING,
        holds=starts_anew,
    ),
    Family(
        "stored pictures",
        ("notebooks/test_stored_pictures.py",),
        fixed=one_in(6),
        seconds=1,
        about=lambda test: (test.params["path"].relative_to(ROOT).as_posix(),),
        holds=lambda test: "path" in test.params and "slow" in test.marks,
    ),
    Family(
        "what takes seconds",
        tuple(
            f"{folder}/*.py" for folder in ("book", "cli", "grading", "jax", "page", "publishing")
        ),
        fixed=half_of_each_module,
        seconds=2.5,
        about=files_of_the_same_name,
        holds=lambda test: not TAKES_SECONDS.isdisjoint(test.marks),
    ),
)
