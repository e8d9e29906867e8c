"""A Sphinx extension: pages with exercises get what checks answers in the browser.

A page stays what it is without JavaScript: this extension only names the cells that a reader may
write, by an id, and adds scripts. They put an editor, a button and a verdict in the cells' places.
Nothing of Python is loaded before the first use; `course_page.site` puts it beside the pages.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from course_figures import pages, sources
from course_page import assignments, projects, runs, turns

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SWITCH = "course_page"
"""The setting in Sphinx's configuration that lists what of this a site gets, if anything."""

PLACE = "cell-{}"
"""The id of a cell that a reader may write, from its `grade_id`."""

TURN = "turn-{}"
"""The id of a chapter's cell with a turn, from the turn's name with - for /."""

RUN = "run-{}"
"""The id of a chapter's cell that runs in a page, from the cell's own id."""

_EXERCISES = "exercises/"
_CHAPTERS = "book/"
_EMPTY = "YOUR ANSWER HERE"

_WITH_TASKS, _PROJECT, _WITHOUT = _ENTRIES = ("page.js", "project.js", "contents.js")

# What a page with Python may do: run the site's own scripts, and a worker that it makes itself.
# Nothing comes from elsewhere, and nothing goes there.
POLICY = "; ".join(
    [
        "default-src 'self' file: data: blob:",
        "script-src 'self' file: blob: 'unsafe-inline' 'wasm-unsafe-eval'",
        "style-src 'self' file: 'unsafe-inline'",
        "worker-src blob:",
        "connect-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ]
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.add_config_value(SWITCH, [], "html")
    app.connect("builder-inited", _write_scripts)
    app.connect("doctree-read", _name_cells)
    app.connect("html-page-context", _add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def bundle(entry: str) -> str:
    """The script of a page: the linker and some modules of `course_page`, in one function.

    Parameters
    ----------
    entry : str
        The module that begins: "page.js" where there are tasks, "project.js" where they are those
        of a project, "contents.js" elsewhere.
    """
    path = f"{sources.BESIDE}{entry}"
    start = (sources.FOLDER / sources.BESIDE / "start.js").resolve()
    parts = [sources.script(sources.LINKER), *map(sources.registration, sources.needed_by(path))]
    call = f"startPage({json.dumps(path)});\n"
    return "".join(["(() => {\n", *parts, sources.script(start), call, "})();\n"])


def is_on(app: Sphinx) -> bool:
    """Whether the pages that are built get the course's scripts."""
    return bool(app.config[SWITCH]) and app.builder.name == "html"


def _write_scripts(app: Sphinx) -> None:
    """Put the scripts where Sphinx takes the site's static files from."""
    if not is_on(app):
        return
    static = Path(app.doctreedir).parent / "page_scripts"
    shutil.rmtree(static, ignore_errors=True)
    folder = static / "page"
    folder.mkdir(parents=True)
    worker = json.dumps(sources.worker(f"{sources.BESIDE}worker.js"))
    for entry in _ENTRIES:
        (folder / entry).write_text(bundle(entry), encoding="utf-8")
    (folder / "worker.js").write_text(
        f'coursePageFiles("worker.js", {worker});\n', encoding="utf-8"
    )
    play = sources.PLAY_EXCERPT.read_text(encoding="utf-8").strip()
    (folder / "play.js").write_text(f'coursePageFiles("play.js", {play});\n', encoding="utf-8")
    before, after = pages.around(*projects.FIGURES, title=projects.TITLE)
    shown = _inert({"before": before, "after": after})
    (folder / "shown.js").write_text(f'coursePageFiles("shown.js", {shown});\n', encoding="utf-8")
    style = (sources.FOLDER / sources.BESIDE / "page.css").read_text(encoding="utf-8")
    (folder / "page.css").write_text(style, encoding="utf-8")
    for name, value in _data(Path(app.srcdir), app.config[SWITCH]).items():
        script = f"window.coursePageData = {_inert(value)};\n"
        (folder / f"{name}.js").write_text(script, encoding="utf-8")
    app.config.html_static_path.append(str(static))


def _data(root: Path, parts: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """What the scripts know of each assignment, by its name, and of the book, as "book"."""
    read = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(root.glob(f"{_EXERCISES}*/*.ipynb"))
    }
    found = {name: assignments.read(notebook) for name, notebook in read.items()}
    places = {
        task.task: {"task": task.task, "title": task.title, "assignment": name, "page": _page(name)}
        for name, one in found.items()
        for task in one.tasks
    }
    from course_page import site  # which reads what it packs

    common = site.about(parts) | {
        "assignments": [
            {"name": name, "page": _page(name), "tasks": len(one.tasks)}
            for name, one in found.items()
        ]
    }
    chapters: dict[str, Mapping[str, Any]] = {
        f"chapter-{path.stem[:2]}": common | {"chapter": _chapter(path)}
        for path in sorted((root / _CHAPTERS).glob("[0-9][0-9]-*.ipynb"))
    }
    return (
        {"book": common}
        | chapters
        | {
            name: common | {"assignment": _assignment(name, one, read[name], places)}
            for name, one in found.items()
        }
    )


def _page(assignment: str) -> str:
    return f"{_EXERCISES}{assignment}/{assignment}.html"


def _assignment(
    name: str,
    found: assignments.PageAssignment,
    notebook: Mapping[str, Any],
    places: Mapping[str, Any],
) -> Mapping[str, Any]:
    """What the page of an assignment knows; `places` has every task of the course by its name."""
    from course_page.left_out import LEFT_OUT
    from course_tasks import catalogue

    tasks = [
        {
            "task": one.task,
            "title": one.title,
            "answer": one.answer,
            "cells": one.cells,
            "check": one.check,
            "call": one.call,
            "outOf": one.points,
            "leftOut": LEFT_OUT.get(one.task),
            "starts": [places[other] for other in projects.STARTS.get(one.task, ())],
            "trains": one.task in projects.TRAINS,
        }
        for one in found.tasks
    ]
    return {
        "assignment": name,
        "chapter": catalogue.chapter_of(name),
        "book": "../..",
        "setup": found.setup,
        "order": found.order,
        "names": found.names,
        "tasks": tasks,
        "written": [dataclasses.asdict(one) for one in found.questions],
        "notebook": notebook,
    }


def _chapter(path: Path) -> Mapping[str, Any]:
    """What a chapter's page knows: its turns, and the cells that run."""
    chapter = path.stem[:2]
    kept = ("name", "asks", "start", "answer", "folds")
    return {
        "name": f"chapter-{chapter}",
        "turns": [
            {key: getattr(turn, key) for key in kept}
            | {"colored": highlight(turn.start, PythonLexer(), HtmlFormatter(nowrap=True))}
            | {"label": turn.name.partition("/")[2].replace("-", " ")}
            for turn in turns.of_chapter(chapter)
        ],
        "cells": _cells(runs.of_chapter(json.loads(path.read_text(encoding="utf-8")))),
    }


def _cells(found: Collection[runs.Run]) -> Mapping[str, Any]:
    """Cells that run: their sources once each, and which of them belong to which."""
    sources = list(dict.fromkeys(one for run in found for one in (*run.before, run.source)))
    place = {source: at for at, source in enumerate(sources)}
    return {
        "sources": sources,
        "runs": [
            {
                "cell": run.cell,
                "imports": "\n".join(run.imports),
                "before": [place[source] for source in run.before],
                "source": place[run.source],
                "loads": run.loads,
            }
            for run in found
        ],
    }


def _inert(value: Any) -> str:
    """JSON that may stand in a script: nothing in it ends the script or begins a comment."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _name_cells(app: Sphinx, document: nodes.document) -> None:
    """Give each cell that a reader writes, checks or is asked for an id of its own."""
    page = app.env.docname
    if not is_on(app):
        return
    for cell in document.findall(nodes.container):
        said = cell.get("cell_metadata") or {}
        if page.startswith(_EXERCISES) and "nbgrader" in said:
            cell["ids"].append(PLACE.format(said["nbgrader"]["grade_id"]))
        elif page.startswith(_EXERCISES) and _runs_experiment(cell):
            cell["ids"].append(PLACE.format("experiment"))
        elif turns.KEY in said.get("course", {}):
            turn = turns.find(said["course"][turns.KEY])
            cell["ids"].append(TURN.format(turn.name.replace("/", "-")))
    if _is_chapter(page):
        _name_runs(document, Path(app.srcdir) / f"{page}.ipynb")
    if page.startswith(_EXERCISES):
        questions = _questions(Path(app.srcdir) / f"{page}.ipynb")
        empty = [one for one in document.findall(nodes.paragraph) if one.astext() == _EMPTY]
        for name, paragraph in zip(questions, empty, strict=True):
            paragraph["ids"].append(PLACE.format(name))


def _runs_experiment(cell: nodes.container) -> bool:
    """Whether this is a whole cell with an experiment, and not its code within it."""
    return cell.get("nb_element") == "cell_code" and cell.astext().startswith("experiment(")


def _name_runs(document: nodes.document, path: Path) -> None:
    """Give the cells that run an id; MyST-NB counts cells as the notebook does."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    held = {run.cell for run in runs.of_chapter(notebook)}
    for one in document.findall(nodes.container):
        index = one.get("cell_index")
        if index is not None and cells[index].get("id") in held:
            one["ids"].append(RUN.format(cells[index]["id"]))


def _is_chapter(page: str) -> bool:
    return page.startswith(_CHAPTERS) and page[len(_CHAPTERS) :][:2].isdigit()


def _questions(path: Path) -> list[str]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [one.cell for one in assignments.read(notebook).questions]


def _add(app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: Any) -> None:
    """Add the scripts to a page: those of its tasks, or the marks in the contents alone."""
    if not is_on(app) or tree is None:
        return
    name = page.rpartition("/")[2]
    exercises = page.startswith(_EXERCISES)
    chapter = _is_chapter(page)
    data = name if exercises else f"chapter-{name[:2]}" if chapter else "book"
    app.add_css_file("page/page.css")
    app.add_js_file(f"page/{data}.js", loading_method="defer")
    entry = _WITH_TASKS if exercises or chapter else _WITHOUT
    if exercises and name in projects.NAMES:
        entry = _PROJECT
    app.add_js_file(f"page/{entry}", loading_method="defer")
    if exercises or chapter:
        policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}" />'
        context["metatags"] = policy + context.get("metatags", "")
