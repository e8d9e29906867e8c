"""The texts that make a figure live: its ES modules, how they are handed over, and the stylesheet.

A figure's module (`averaging.js`) imports what it needs from `runtime/`, as any ES module does, so
that editors and linters understand it. A page cannot load modules by their addresses: over
``file://`` browsers refuse to, and JupyterLab takes one text for each figure. Each module is
therefore handed over as a text, cut at the places of its imports; `runtime/linker.js` puts the
pieces together in the browser, and modules stay modules, with a scope and a name of their own.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from course_figures.errors import FigureError

FOLDER = Path(__file__).parent
RUNTIME = FOLDER / "runtime"

LINKER = RUNTIME / "linker.js"
"""The script that makes modules of the texts that are handed over; it stands before them all."""

MOUNT = RUNTIME / "mount.js"
"""The script that mounts the figures of a page that has no kernel."""

LIVE_WEIGHTS = FOLDER / "live_model.safetensors"
"""Weights of the live model; they travel in a module, so that no page has to fetch them."""

PLAY_EXCERPT = FOLDER / "play_excerpt.json"
"""The text that the page trains on; `course_figures.play_excerpt` writes it."""

BESIDE = "../course_page/"
"""Where other modules stand that are handed over in the same way, from this folder."""

WORKERS = MappingProxyType({"runtime/training_worker_text.js": "runtime/training_worker.js"})
"""Module that holds a worker's script as a text, to the module that runs in that worker."""

_IMPORT = re.compile(r'^import \{ ?[\w\s,]+ ?\} from "(?P<from>\.[\w./]+\.js)";$', re.MULTILINE)
_OTHER_IMPORT = re.compile(
    r"^\s*import\b.*"
    r"|(?<!\{)\bimport\(.*"  # in braces it is a type, in a comment
    r"|^\s*export\s*(?:\*|\{[^}]*\})[^;]*\bfrom\b.*",
    re.MULTILINE,
)

# No text in quotation marks goes over several lines (a test looks): what begins a line is code,
# and the spaces before it mean nothing.
_COMMENT = re.compile(r"^[ \t]*//.*$|^[ \t]*/\*(?:[^*]|\*(?!/))*\*/[ \t]*$", re.MULTILINE)
_STYLE_COMMENT = re.compile(r"/\*.*?\*/\n?", re.DOTALL)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


def names() -> list[str]:
    """Names of all figures' modules, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.js"))


def needed(*figures: str) -> list[str]:
    """The modules that some figures are made of, each once, those that are imported first.

    Parameters
    ----------
    *figures : str
        Names of figures ("averaging").

    Returns
    -------
    list of str
        Paths from this folder ("runtime/numbers.js", …, "averaging.js").

    Raises
    ------
    FigureError
        If there is no such figure, a module imports in another way than
        ``import { name, … } from "./path.js";``, what it imports is no file, or modules import each
        other in a circle.
    """
    found: dict[str, None] = {}
    for name in figures:
        if name not in names():
            raise FigureError(
                f"no figure's module is called {name!r}: there are {', '.join(names()) or 'none'}; "
                f"write {name}.js beside its Python class"
            )
        _collect(f"{name}.js", found, ())
    return list(found)


def worker(path: str) -> str:
    """The script of a worker that runs a module, with all that this imports.

    Parameters
    ----------
    path : str
        From this folder ("runtime/training_worker.js", "../course_page/worker.js").

    Returns
    -------
    str
        A classic script, to be started from a blob: over ``file://`` a browser starts no other.
        Where the module cannot be loaded, it sends ``{fault: message}``.
    """
    start = (
        f"courseFigures.load({json.dumps(path)})"
        ".catch((error) => postMessage({ fault: error.message }));\n"
    )
    return "".join([script(LINKER), *map(registration, needed_by(path)), start])


def needed_by(path: str) -> list[str]:
    """A module and all that it imports, in the order of `needed`."""
    found: dict[str, None] = {}
    _collect(path, found, ())
    return list(found)


def common() -> list[str]:
    """The modules that more than half of all figures need, in the order of `needed`."""
    every = [set(needed(name)) for name in names()]
    return [path for path in needed(*names()) if 2 * sum(path in one for one in every) > len(every)]


def registration(path: str) -> str:
    """JavaScript that hands one module over to `linker.js`.

    Parameters
    ----------
    path : str
        As `needed` gives it.

    Returns
    -------
    str
        A statement; it may stand inside a script element too.
    """
    parts, end = [json.dumps(path)], 0
    text = _text(path)
    for match in _IMPORT.finditer(text):
        other = json.dumps(_resolve(path, match["from"]))
        parts += [_quote(text[end : match.start("from")]), other]
        end = match.end("from")
    # The name and the lines that a browser gives for an error are then those of the file.
    name = os.path.normpath(f"course_figures/{path}").replace(os.sep, "/")
    parts.append(_quote(f"{text[end:]}//# sourceURL={name}\n"))
    return f"courseFigures.register({', '.join(parts)});\n"


def module(name: str) -> str:
    """One self-contained ES module, as JupyterLab takes it: a figure with all that it imports."""
    start = (
        f"const loaded = courseFigures.load({json.dumps(f'{name}.js')})"
        ".finally(courseFigures.release);\n"
        "export default { render: async (view) => (await loaded).default.render(view) };\n"
    )
    return "".join([script(LINKER), *map(registration, needed(name)), start])


def stylesheet() -> str:
    """The one stylesheet of all figures, without its comments and indents."""
    text = (RUNTIME / "figures.css").read_text(encoding="utf-8")
    return _INDENT.sub("", _STYLE_COMMENT.sub("", text))


def _collect(path: str, found: dict[str, None], importers: Sequence[str]) -> None:
    if path in importers:
        circle = " → ".join([*importers[importers.index(path) :], path])
        raise FigureError(f"modules import each other in a circle, {circle}: move what they share")
    if path in found:
        return
    for match in _IMPORT.finditer(_text(path)):
        _collect(_resolve(path, match["from"]), found, (*importers, path))
    found[path] = None


def script(path: Path) -> str:
    """The text of a classic script (`LINKER`, `MOUNT`) as a page gets it."""
    return _bare(path.read_text(encoding="utf-8"))


def _bare(text: str) -> str:
    """A text without indents and without the comments that have lines of their own.

    They are an eighth of what a page would carry. Their lines stay, empty, so that a browser names
    the line of the file where an error is.
    """
    return _INDENT.sub("", _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text))


def _text(path: str) -> str:
    """The text of a module; refused if it imports in a way that the linker would not see."""
    text = (FOLDER / path).read_text(encoding="utf-8")
    strange = _OTHER_IMPORT.search(_IMPORT.sub("", text))
    if strange:
        raise FigureError(
            f"{path} has {strange[0].strip()!r}, which no page could follow: "
            'write import { name, … } from "./path.js"; on lines of its own'
        )
    text = _bare(text)
    if path in _FILLED:
        empty, value = _FILLED[path]
        if text.count(empty) != 1:
            raise FigureError(f"{path} has not {empty} once: nothing takes what belongs there")
        text = text.replace(empty, f"{empty.partition(' = ')[0]} = {value()}")
    return text


def _worker_text(path: str) -> Callable[[], str]:
    return lambda: json.dumps(worker(WORKERS[path]))


# Modules that are empty in the repository: what stands there, and the value that a page gets.
_FILLED: Mapping[str, tuple[str, Callable[[], str]]] = MappingProxyType(
    {
        "runtime/live_weights.js": (
            'LIVE_WEIGHTS = ""',
            lambda: json.dumps(base64.b64encode(LIVE_WEIGHTS.read_bytes()).decode("ascii")),
        ),
        "runtime/play_excerpt.js": (
            "PLAY_EXCERPT = null",
            lambda: PLAY_EXCERPT.read_text(encoding="utf-8").strip(),
        ),
        "runtime/training_worker_text.js": (
            'TRAINING_WORKER = ""',
            _worker_text("runtime/training_worker_text.js"),
        ),
    }
)


def _resolve(path: str, specifier: str) -> str:
    """The path of what a module imports, from this folder."""
    file = ((FOLDER / path).parent / specifier).resolve()
    name = Path(os.path.relpath(file, FOLDER.resolve())).as_posix()
    if not file.is_file() or (name.startswith("../") and not name.startswith(BESIDE)):
        raise FigureError(f"{path} imports {specifier!r}, which is no file of course_figures")
    return name


def _quote(text: str) -> str:
    """A text as JavaScript: a template, in which quotes and line ends stay as they are."""
    quoted = text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
    # Nothing in it may end a script element or begin a comment in one.
    return f"`{re.sub('<(?=/|!--|script)', '<' + chr(92) * 2, quoted)}`"
