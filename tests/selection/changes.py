"""Which files a piece of work touches: what git says has changed since it began."""

import os
import subprocess
from typing import NamedTuple

# The lines of development that work begins from, the first that there is.
MAIN = ("origin/HEAD", "origin/main", "origin/master", "main", "master")

# On the main line itself nothing says where a piece of work began.
LATEST = 5


class Changes(NamedTuple):
    """What changed.

    Attributes
    ----------
    files : tuple of str
        Relative to the project, sorted; deleted ones too.
    since : str
        Since when, in words for people.
    """

    files: tuple[str, ...]
    since: str


class UnknownRevisionError(ValueError):
    """Somebody asked for what changed since something that git does not know."""


def changes(root, since=""):
    """What differs from the beginning of the work in hand, committed or not.

    The beginning is `since`, where it is given. Otherwise it is where the current branch left the
    main line. On the main line itself, work in hand is what is not committed; where everything is
    committed, it is the last few commits.

    Parameters
    ----------
    root : Path
        Of the project.
    since : str, optional
        A revision.

    Returns
    -------
    Changes
        Without files where git does not know the project, or knows one commit of it only.

    Raises
    ------
    UnknownRevisionError
        If git does not know `since`.
    """
    head = _git(root, "rev-parse", "--verify", "HEAD")
    if head is None:
        return Changes((), "unknown: git does not know this folder")
    if since:
        base = _git(root, "merge-base", since, "HEAD")
        if base is None:
            raise UnknownRevisionError(
                f"SINCE={since}: git knows no such revision; name a branch, a tag or a commit, or "
                "leave SINCE out"
            )
        return Changes(_files(root, base), f"since {since}")
    main = next((one for one in MAIN if _git(root, "rev-parse", "--verify", one)), None)
    base = main and _git(root, "merge-base", main, "HEAD")
    if base and base != head:
        return Changes(_files(root, base), f"since this branch left {main}")
    if edited := _files(root, head):
        return Changes(edited, "and not committed yet")
    latest = (_git(root, "rev-list", "--first-parent", f"-n{LATEST + 1}", "HEAD") or head).split()
    if len(latest) == 1:
        return Changes((), "unknown: git holds one commit")
    return Changes(_files(root, latest[-1]), f"in the last {len(latest) - 1} commits")


def _files(root, base):
    """Files that differ from a commit, and new ones that git does not ignore."""
    differ = _git(root, "diff", "--name-only", "--no-renames", "-z", base) or ""
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z") or ""
    return tuple(sorted({*differ.split("\0"), *new.split("\0")} - {""}))


def _git(root, *arguments):
    """What a command of git says, or None where it fails or there is no git."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            env=os.environ | {"GIT_CEILING_DIRECTORIES": str(root.parent)},
            check=False,
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
