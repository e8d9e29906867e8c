"""What tests that take turns are about: all that decides whether they pass, as one digest each.

A test's mark names one of the functions here, such as `pytest.mark.turns(of=subjects.task)`. It is
given the test, with its parameters, and says which files of this project the test depends on.
Versions of Python and of all packages are part of every digest.
"""

import functools
import hashlib
import importlib.metadata
import json
import platform
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]

PACKAGES = ("course_lib", "course_tasks", "course_judges", "course_figures", "course_grader")
# What comes with a package that a notebook imports: `check` takes the judges where they are.
BRINGS = {
    "course_figures": ("course_lib",),
    "course_tasks": ("course_lib", "course_judges"),
    "course_judges": ("course_lib", "course_tasks"),
}
# Scripts of a page and its style come into it when the book is built; a notebook stores none.
SHOWN_IN_PAGES = frozenset((".js", ".css"))
MADE_BY_PYTHON = frozenset((".pyc",))
_OF_A_CHAPTER = re.compile(r"ch(\d\d)[_.]")


class Subject(NamedTuple):
    """What a test is about.

    Attributes
    ----------
    name : str
        In the record, among the subjects of the test's module: "chapter 07", for example.
    digest : str
        Of all that decides whether the test passes.
    together : str
        Tests of a module that have the same word here have their turn in the same run.
    """

    name: str
    digest: str
    together: str


def task(test):
    """A judge of one task, and answers to it. Chapters import nothing from each other, as
    test_layout.py and test_turns.py see; the tasks of one may share anything.
    """
    name = test.callspec.params["task"]
    chapter = name[:2]
    return Subject(f"chapter {chapter}", _judging(test.path, chapter), together=name)


def all_tasks(test):
    """All judges, and answers to all tasks."""
    return Subject("all tasks", _judging(test.path, None), together="all tasks")


def mutants(test):
    """All judges, and solutions that are changed in one place."""
    names = ("mutants", "mutations", "mutant_runs", "mutant_draws", "solutions")
    changed_by = [f"benchmarks/{name}.py" for name in names]
    listed = "benchmarks/equivalent_mutants.toml"
    known = files_of("solutions", listed, *changed_by, "course_grader")
    digest = digest_of(_judging(test.path, None), files=known)
    return Subject("all solutions", digest, together=test.name)


def tasks_and_all_callables(test):
    """Judges of one chapter, and all that a student's cell could import, of any chapter."""
    chapter = test.callspec.params["chapter"]
    beside = files_of("course_tasks", "course_grader/sandbox/bubblewrap.py")
    digest = digest_of(_judging(test.path, chapter), files=beside)
    return Subject(f"chapter {chapter}", digest, together=chapter)


def threat(test):
    """The grader, its sandbox, and what is handed in to it for one or two assignments."""
    case = test.callspec.params["case"].name if hasattr(test, "callspec") else test.name
    # Two processes that talk to each other prove nothing one without the other.
    return Subject("all cases", _grading(test.path), together=case.removesuffix("-back"))


def grading(test):
    """A class that is graded, and what instructors do with it. The tests of a module share what
    was graded, so they have their turn together.
    """
    return Subject("all of it", _course(test.path), together=test.path.stem)


def site(test):
    """The book as it is built and read, of which a page may show anything of the project."""
    files = files_of(
        *("book", "benchmarks/results", "README.md", "CHANGELOG.md", "_config.yml", "_toc.yml"),
        *("tests/book", "tests/publishing"),
    )
    helpers = [path for path in files if not path.name.startswith("test_")]
    digest = digest_of(_course(test.path), files=helpers)
    return Subject("all of it", digest, together=test.name)


def figure(test):
    """All figures, their runtime, and the pages that they are put on."""
    return Subject("all figures", _drawing(test.path), together=test.name)


def page(test):
    """The pages of the book: one of them, if the test's parameter is its name, or all."""
    name = test.callspec.params.get("name", "") if hasattr(test, "callspec") else ""
    of_one = [
        f"{name}{suffix}"
        for suffix in (".md", ".ipynb")
        if (ROOT / name).with_suffix(suffix).is_file()
    ]
    digest = digest_of(_building(test.path), files=files_of(*(of_one or ("book", "exercises"))))
    return Subject(of_one[0] if of_one else "all pages", digest, together=test.name)


def notebook_on_corpora(test):
    """A notebook and its stored outputs."""
    return _notebook(test.callspec.params["notebook"], "corpora")


def notebook_on_play(test):
    """A notebook, where there are no corpora."""
    return _notebook(test.callspec.params["notebook"], "play")


def forget():
    """Read all files anew from here on."""
    for kept in (
        *(_judging, _grading, _course, _drawing, _building),
        *(content_of, files_of, environment),
    ):
        kept.cache_clear()


def digest_of(*parts, files=()):
    """One digest of the environment, some values, and files with their places."""
    digest = hashlib.sha256(json.dumps([environment(), parts], sort_keys=True).encode())
    for path in sorted(files):
        digest.update(f"\0{path.relative_to(ROOT).as_posix()}\0{content_of(path)}".encode())
    return digest.hexdigest()[:32]


@functools.cache
def files_of(*folders, chapters=None, without=MADE_BY_PYTHON):
    """Every file below some folders, or these files themselves.

    Parameters
    ----------
    *folders : str
        Relative to the project.
    chapters : tuple of str, optional
        Of folders and files that belong to a chapter, only those of these.
    without : set of str
        Endings of files that are left out.
    """
    found = []
    for folder in folders:
        place = ROOT / folder
        for path in [place] if place.is_file() else place.rglob("*"):
            parts = path.relative_to(ROOT).parts
            if any(part.startswith(".") for part in parts):  # what an editor keeps for itself
                continue
            of = {one[1] for one in map(_OF_A_CHAPTER.match, parts) if one}
            own = chapters is None or of <= set(chapters)
            if own and path.suffix not in without and path.is_file():
                found.append(path)
    return tuple(found)


@functools.cache
def environment():
    """Versions of everything that `make test` installs, of Python, and the kind of machine."""
    lock = (ROOT / "requirements-lock.txt").read_text(encoding="utf-8")
    versions = {}
    for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE):
        try:  # what follows a plus says where a build came from, such as torch's for processors
            versions[name] = importlib.metadata.version(name).partition("+")[0]
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not here"
    return [versions, sys.version_info[:2], platform.system(), platform.machine()]


@functools.cache
def content_of(path):
    """A digest of one file, which is read once."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def _judging(module, chapter):
    """What verdicts on tasks come from, of a chapter or of all, and a module of tests."""
    everything = ("course_lib", "course_tasks", "course_judges", "tests/tasks")
    found = files_of(*everything, chapters=chapter and (chapter,))
    files = [path for path in found if not path.name.startswith("test_")]
    return digest_of(files=[*files, module])


@functools.cache
def _grading(module):
    """What comes of the notebooks that a module of tests hands in."""
    assignments = ("04-bigram", "08-gpt")
    notebooks = [
        f"{folder}/{name}" for folder in ("solutions", "exercises") for name in assignments
    ]
    packages = ("course_lib", "course_tasks", "course_judges", "course_grader")
    return digest_of(
        files=files_of(
            *packages,
            *notebooks,
            "nbgrader_config.py",
            module.parent.relative_to(ROOT).as_posix(),
            chapters=tuple(name[:2] for name in assignments),
        )
    )


@functools.cache
def _course(module):
    """All that a course is made of, and a module of tests that use it."""
    folders = ("solutions", "exercises", "examples", "setup", "book/_ext", "book/_assets")
    others = ("nbgrader_config.py", "book/instructors-term.md", "pyproject.toml")
    tried_by = ("tests/grading", "tests/cli", "tests/book/browsing.py", "tests/tasks/students")
    found = files_of(*PACKAGES, *folders, *others, *tried_by)
    files = [path for path in found if not path.name.startswith("test_")]
    return digest_of(files=[*files, module])


@functools.cache
def _drawing(module):
    """What figures in a page come from, and a module of tests that open them."""
    shown_by = ("book/_assets", "setup/book_site.py", "setup/chromium.py")
    tried_by = ("tests/book/browsing.py", "tests/book/reader.py", "tests/figures")
    found = files_of("course_lib", "course_figures", *shown_by, *tried_by)
    files = [path for path in found if not path.name.startswith("test_")]
    return digest_of(files=[*files, module])


@functools.cache
def _building(module):
    """What makes a site of the book's texts and notebooks, and a module of tests that open it."""
    extensions = ("book/_ext", "book/field_guide", "book/recorded_verdicts")
    others = ("_config.yml", "_toc.yml", "book/references.bib", "setup", "tests/book/conftest.py")
    return digest_of(_drawing(module), files=files_of(*extensions, *others))


def _notebook(path, data):
    name = path.relative_to(ROOT).as_posix()
    return Subject(f"{name} on the {data}", digest_of_notebook(path, data), together=name)


def digest_of_notebook(notebook, data):
    """All that the outputs of a notebook follow from, as one digest.

    Parameters
    ----------
    notebook : Path
        One of the book's or a solution.
    data : str
        "corpora" or "play": on what it runs.

    Returns
    -------
    str
        Of its code with tags and stored outputs, and the files that it uses.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [
        [cell["source"], cell["metadata"].get("tags", []), cell["outputs"]]
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    sources = "\n".join("".join(source) for source, _, _ in code)
    return digest_of(data, code, files=_behind(sources, notebook.stem[:2]))


def _behind(code, chapter):
    """The files of this project that the code of a notebook uses, directly or not.

    Of tasks and judges, other chapters' are left out where the notebook belongs to a chapter.
    """
    named = set(re.findall(r"\bcourse_\w+", code))
    if unknown := named - set(PACKAGES):
        raise ValueError(
            f"a notebook names {', '.join(sorted(unknown))}: no package of this course"
        )
    named |= {one for package in named for one in BRINGS.get(package, ())}
    found = [ROOT / "tests" / "notebooks" / "sanitize.cfg"]  # what a comparison does not look at
    if "course_figures" in named:
        found += (ROOT / "book" / "_assets").glob("*.html")
    found += files_of(
        *sorted(named),
        chapters=(chapter,) if chapter.isdigit() else None,
        without=MADE_BY_PYTHON | SHOWN_IN_PAGES,
    )
    if "benchmarks" in code:  # what was measured, and is shown
        results = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
        shown = [path for path in results if re.search(rf"\b{path.stem}\b", code)]
        found += shown or results
    return found
