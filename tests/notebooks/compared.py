"""Which stored outputs were compared with those of a run, and what both depended on then.

Running every notebook takes as long as all other tests together, and mostly shows what the last
run has shown. So `compared.json` beside this module keeps, for each notebook, a digest of all that
its outputs follow from. Only a comparison that has passed writes it, in `make test-notebooks`. If
anything changes the digest, an output edited by hand included, the notebook is run again. So is one
that is not in the file, and all of them are if the file cannot be read.
"""

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import sys
from pathlib import Path

import filelock

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_name("compared.json")

# Of so many notebooks, one is run although nothing changed that is known to matter.
TURNS = 6

PACKAGES = ("course_lib", "course_tasks", "course_judges", "course_figures", "course_grader")
# What comes with a package that a notebook imports: `check` takes the judges where they are.
BRINGS = {
    "course_figures": ("course_lib",),
    "course_tasks": ("course_lib", "course_judges"),
    "course_judges": ("course_lib", "course_tasks"),
}
# Scripts of a page and its style come into it when the book is built; a notebook stores none.
LEFT_OUT = {".js", ".css", ".pyc"}
_CHAPTER = re.compile(r"ch(\d\d)_")


def digest_of(notebook, data):
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
        Of its code with tags and stored outputs, the files that it uses, the versions of all
        packages that are installed for a run, Python's, and the kind of machine.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [
        [cell["source"], cell["metadata"].get("tags", []), cell["outputs"]]
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    digest = hashlib.sha256()
    for part in (data, code, environment()):
        digest.update(json.dumps(part, sort_keys=True).encode() + b"\0")
    sources = "\n".join("".join(source) for source, _, _ in code)
    for path in files_behind(sources, notebook.stem[:2]):
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def files_behind(code, chapter):
    """The files of this project that the code of a notebook uses, directly or not, in order.

    Of tasks and judges, other chapters' are left out where the notebook belongs to a chapter: they
    import nothing from each other, as tests/tasks/test_layout.py sees.
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
    for package in named:
        for path in (ROOT / package).rglob("*"):
            of = _CHAPTER.match(path.relative_to(ROOT / package).parts[0])
            own = of is None or not chapter.isdigit() or of[1] == chapter
            if path.is_file() and path.suffix not in LEFT_OUT and own:
                found.append(path)
    if "benchmarks" in code:  # what was measured, and is shown
        results = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
        shown = [path for path in results if re.search(rf"\b{path.stem}\b", code)]
        found += shown or results
    return sorted(found)


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


def is_known(notebook, data):
    """Whether a comparison has passed with all that the outputs depend on as it is now."""
    return _known().get(_name(notebook), {}).get(data) == digest_of(notebook, data)


def record(notebook, data, digest):
    """Keep that a comparison has passed, with the digest from before it ran: a file may have been
    edited meanwhile. Processes that share the tests take turns.
    """
    folder = ROOT / ".pytest_cache"
    folder.mkdir(exist_ok=True)
    with filelock.FileLock(folder / "compared.lock"):
        known = _known()
        known.setdefault(_name(notebook), {})[data] = digest
        known = {name: known[name] for name in sorted(known) if (ROOT / name).is_file()}
        beside = RECORD.with_suffix(".new")
        beside.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, RECORD)


def _known():
    try:
        known = json.loads(RECORD.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # as two who merge leave it: all run again
        return {}
    rows = known.items() if isinstance(known, dict) else ()
    return {name: row for name, row in rows if isinstance(row, dict)}


def _name(notebook):
    return notebook.relative_to(ROOT).as_posix()
