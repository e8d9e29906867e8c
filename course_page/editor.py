"""The editor of a page: CodeMirror, put together from what its packages publish.

Each package has its code as a CommonJS module. `script` wraps them into one classic script, in
which they find each other by name; that takes no Node and changes nothing in them but comments.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from course_page import runtime

_MODULES = (
    (
        "@marijn/find-cluster-break",
        "1.0.4",
        "dist/index.cjs",
        4_233,
        "d93a4e4be1ed703c19541f21755958f9a33aefed0c32819a24b158dcced4e078",
    ),
    (
        "@codemirror/state",
        "6.7.6",
        "dist/index.cjs",
        147_725,
        "fe86b098b892ec3aa3b1043fb77f7ab1495ea751420a536f906ff2d7603c255f",
    ),
    (
        "crelt",
        "1.0.7",
        "dist/index.cjs",
        983,
        "6c60358e1691dddfccf861a7a3d9f8a0a0b7abff0a631462535705402401cc50",
    ),
    (
        "style-mod",
        "4.1.5",
        "dist/style-mod.cjs",
        7_747,
        "cc7b2ed508273db7601233a27fb22a9b4729cdfa4f29280423bc3ff8daaef315",
    ),
    (
        "w3c-keyname",
        "2.2.8",
        "index.cjs",
        2_777,
        "4da1f0a238777b0066e5a76b7940b3034107e2834cf2c73d29676530d1b936ae",
    ),
    (
        "@codemirror/view",
        "6.43.15",
        "dist/index.cjs",
        496_578,
        "0b57d6bd577b2a511b229e2c6221a2590c9dd47b72a8cbeb42cf80bef7923ccb",
    ),
    (
        "@lezer/common",
        "1.5.5",
        "dist/index.cjs",
        85_060,
        "ed13ad20fe98643d7ebbf769b41874e898f00ac0ce56d99c8f75b060c2c21011",
    ),
    (
        "@lezer/highlight",
        "1.2.5",
        "dist/index.cjs",
        30_108,
        "85fc7960707870c896961f786778a4ac27098d75f2dd6c4ffd8f6bc25ca0cd2e",
    ),
    (
        "@lezer/lr",
        "1.4.12",
        "dist/index.cjs",
        73_197,
        "1aa76258d6c84808af9f258606db2405b84f7d9ad90dc304c6868eb49d9c899a",
    ),
    (
        "@codemirror/streamparser",
        "6.0.0",
        "dist/index.cjs",
        5_147,
        "8e6bf3c5ec9e552d24139a92506fa9b7acb9902cb1610cd3b1871f9db76839c0",
    ),
    (
        "@codemirror/language",
        "6.13.1",
        "dist/index.cjs",
        98_684,
        "4fd7d0b7a5fc9480e1d89ee5abbec41e95649c81f098e2e587194f3542d55d81",
    ),
    (
        "@codemirror/commands",
        "6.11.1",
        "dist/index.cjs",
        88_108,
        "83991d65cb9341e10e29c2da08c08106f2ad6bbc79ab5f9a83558e9a882be23e",
    ),
    (
        "@codemirror/autocomplete",
        "6.20.4",
        "dist/index.cjs",
        90_697,
        "861b86081ebad8dcfe90861ae6d0ce941702ddd26e4594fb8b8c3235fb5cb4a3",
    ),
    (
        "@lezer/python",
        "1.1.19",
        "dist/index.cjs",
        44_415,
        "e5a41a8de4f1b8576623604ba414a78e75af501cc3f5804fee60d1238bef728c",
    ),
    (
        "@codemirror/lang-python",
        "6.2.1",
        "dist/index.cjs",
        13_155,
        "73b2a005b490083b7d3dc9bcfd4da41c8295fae235e13c7ce1822e667966c6bb",
    ),
)

PARTS = tuple(
    runtime.of_npm(package, version, path, size, sha256, name=f"{package.replace('/', '-')}.cjs")
    for package, version, path, size, sha256 in _MODULES
)
"""The files of CodeMirror (MIT license), those that others need first."""

# What the page calls them: `course_page/editor.js` takes them by these names.
_NAMES = {
    "state": "@codemirror/state",
    "view": "@codemirror/view",
    "commands": "@codemirror/commands",
    "language": "@codemirror/language",
    "autocomplete": "@codemirror/autocomplete",
    "python": "@codemirror/lang-python",
    "highlight": "@lezer/highlight",
}

# A block comment that begins a line and has it for itself. No text of these packages goes over
# several lines with such a beginning, and another content than the pinned one is refused.
_COMMENT = re.compile(r"^[ \t]*/\*\*(?:[^*]|\*(?!/))*\*/[ \t]*\n", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+(?=\S)", re.MULTILINE)

_LICENSE = (
    "/*! CodeMirror and Lezer, by Marijn Haverbeke and others, MIT license: "
    "https://codemirror.net */"
)


def script(name: str) -> str:
    """The editor as one classic script.

    Parameters
    ----------
    name : str
        By which name it hands over what CodeMirror exports.

    Raises
    ------
    RuntimeMissingError
        If a file of it is neither in the cache nor to be had.
    """
    files = runtime.fetch(PARTS)
    modules = ",\n".join(
        f"{json.dumps(package)}: (require, exports, module) => {{\n{_bare(files[part.name])}\n}}"
        for part, (package, *_) in zip(PARTS, _MODULES, strict=True)
    )
    exported = ", ".join(f"{name}: require({json.dumps(at)})" for name, at in _NAMES.items())
    return f"""{_LICENSE}
(() => {{
const modules = {{
{modules}
}};
const made = {{}};
const require = (name) => {{
  if (!(name in made)) {{
    const module = {{ exports: {{}} }};
    made[name] = module;
    modules[name](require, module.exports, module);
  }}
  return made[name].exports;
}};
coursePageFiles({json.dumps(name)}, {{ {exported} }});
}})();
"""


def _bare(path: Path) -> str:
    """A module without the comments that document it, and without indents."""
    return _INDENT.sub("", _COMMENT.sub("", path.read_text(encoding="utf-8")))
