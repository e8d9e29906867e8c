"""What has passed on this machine with every file that it reads as it is now, so that a run of all
tests goes on where another ended. It is kept beside pytest's cache, and never committed.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import sys
from pathlib import Path

# What git does not track, and no test reads; what begins with a dot is left out as well.
_MADE = frozenset(("_build", "node_modules", "__pycache__"))

# What of the environment can change how a test ends.
_ASKED = ("COURSE_DATA", "COURSE_TEST_DRAWS", "EXAMINE")


class Contents:
    """Every file of a project, as it is when this is made.

    Parameters
    ----------
    root : Path
        The project.
    """

    def __init__(self, root):
        self._environment = _environment(root)
        self._files = {}
        for folder, folders, files in os.walk(root):
            folders[:] = [one for one in folders if one not in _MADE and not one.startswith(".")]
            for file in files:
                path = Path(folder, file)
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                self._files[path.relative_to(root).as_posix()] = content

    def digest(self, places):
        """One digest of the environment and of all files in some places; of all, if there are none.

        Parameters
        ----------
        places : sequence of str
            Folders and files, relative to the project.
        """
        digest = hashlib.sha256(self._environment.encode())
        for name in sorted(self._files):
            if not places or any(name == one or name.startswith(f"{one}/") for one in places):
                digest.update(f"\0{name}\0{self._files[name]}".encode())
        return digest.hexdigest()


class Passed:
    """The tests that have passed, in a file: places that they read -> their digest and the tests.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path):
        self._path = path

    def tests(self, contents):
        """Names of the tests that have passed with these contents."""
        return {
            name
            for places, (digest, names) in self._read().items()
            if contents.digest(json.loads(places)) == digest
            for name in names
        }

    def add(self, contents, tests):
        """Keep that tests have passed with these contents.

        Parameters
        ----------
        contents : Contents
        tests : dict
            Places that they read -> set of their names.
        """
        known = self._read()
        for places, names in tests.items():
            key, digest = json.dumps(places), contents.digest(places)
            before, others = known.get(key, (digest, []))
            known[key] = digest, sorted({*names, *(others if before == digest else ())})
        beside = self._path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(known, indent=0), encoding="utf-8")
        os.replace(beside, self._path)

    def _read(self):
        try:
            return json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}


def _environment(root):
    """Python, the packages of the lock, and what is asked for, as one text."""
    lock = (root / "requirements-lock.txt").read_text(encoding="utf-8")
    versions = {}
    for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not here"
    asked = {name: os.environ.get(name, "") for name in _ASKED}
    return json.dumps([versions, sys.version, platform.platform(), asked])
