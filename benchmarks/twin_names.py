"""Which of PyTorch's names the course uses, and who has them in a page: the twin, or pyborch.

python -m benchmarks.twin_names [--pyborch WHEEL]

Reads the sources that run in a page, solutions, answers of the collections and *Your turn*, and
lists every function, method, layer and optimizer of PyTorch that they name. Then it asks the module
that answers to `torch` in a page which of them it has, and `pyborch`, if its wheel is given
(`pip download --no-deps pyborch==1.14.1`). To have a name is not yet to compute what PyTorch does:
`tests/page/test_acceptance.py` asks that.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import torch

from course_page import archive

ROOT = Path(__file__).parents[1]

# Where a name stands, and what it is looked for in.
PLACES = {
    "torch": "torch",
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "nn.init": "torch.nn.init",
    "nn.utils": "torch.nn.utils",
    "torch.optim": "torch.optim",
    "torch.linalg": "torch.linalg",
    "torch.special": "torch.special",
    "torch.func": "torch.func",
    "torch.Tensor": "torch.Tensor",
}

ASKS = """
import importlib, json, sys
import {module} as torch
sys.modules["torch"] = torch
def found(place):
    at = torch
    for part in place.split(".")[1:]:
        at = getattr(at, part)
    return at
has = {{}}
for place, names in json.load(sys.stdin).items():
    try:
        at = found(place)
    except AttributeError:
        has[place] = []
        continue
    has[place] = [name for name in names if hasattr(at, name)]
print(json.dumps(has))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyborch", type=Path, help="the package's wheel")
    options = parser.parse_args()
    used = names_used()
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(io.BytesIO(archive.build())).extractall(f"{folder}/page")
        columns = {"the twin": asked(used, f"{folder}/page", "torch")}
        if options.pyborch:
            zipfile.ZipFile(options.pyborch).extractall(f"{folder}/other")
            columns["pyborch"] = asked(used, f"{folder}/other", "borch")
    print("| of | used | " + " | ".join(f"{title} lacks" for title in columns) + " |")
    print("| :-- | --: |" + " :-- |" * len(columns))
    for place, names in used.items():
        lacks = [sorted(set(names) - set(has[place])) for has in columns.values()]
        cells = [f"{len(one)}: {', '.join(one)}" if one else "–" for one in lacks]
        print(f"| `{place}` | {len(names)} | " + " | ".join(cells) + " |")


def sources() -> Iterator[str]:
    """What runs in a page or is written there."""
    for name, path in archive.files().items():
        if name.endswith(".py") and not name.startswith("torch/"):
            yield path.read_text(encoding="utf-8")
    for path in (ROOT / "tests" / "tasks" / "students").rglob("*.py"):
        if "10" not in path.parent.name:
            yield path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "solutions").glob("[01][1-9]-*/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield "".join(cell["source"])


def names_used() -> dict[str, list[str]]:
    """Place to the names of PyTorch that are used of it."""
    methods = {name for name in dir(torch.Tensor) if not name.startswith("_")}
    found: dict[str, set[str]] = {place: set() for place in PLACES.values()}
    for source in sources():
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Attribute):
                continue
            of = ast.unparse(node.value)
            place = PLACES.get(of) or (of if of in found else None)
            if place:
                found[place].add(node.attr)
            elif node.attr in methods and of.partition(".")[0] not in PLACES:
                found["torch.Tensor"].add(node.attr)
    return {place: sorted(_real(place, names)) for place, names in found.items() if names}


def _real(place: str, names: set[str]) -> set[str]:
    """Those that PyTorch has: a wrong answer may name what doesn't exist."""
    at = torch
    for part in place.split(".")[1:]:
        at = getattr(at, part)
    return {name for name in names if hasattr(at, name)}


def asked(used: dict[str, list[str]], folder: str, module: str) -> dict[str, list[str]]:
    """Which of the names a module has, asked in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", ASKS.format(module=module)],
        input=json.dumps(used),
        env={**os.environ, "PYTHONPATH": folder},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    has: dict[str, list[str]] = json.loads(done.stdout)
    return has


if __name__ == "__main__":
    main()
