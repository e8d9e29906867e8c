"""Which of the notebooks that a student handed in counts: by name, by content, by upload."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from course_grader.errors import RefusedDownloadError
from course_grader.file_names import is_notebook, notebook_stem
from course_grader.lms.archives import members
from course_grader.lms.entries import Allowance, Found, chunks, shown
from course_grader.lms.owners import Owner

# Everything that is looked at to find one student's notebook.
MOST_NOTEBOOKS_OF_A_STUDENT = 50

# Enough to recognise what somebody handed in for a notebook.
MOST_NAMES = 3

# Looked for in the bytes, because parsing a notebook takes many times its size of memory. A quote
# inside a text has a backslash before it.
_GRADE_ID = re.compile(rb'(?<!\\)"grade_id"\s{0,9}:\s{0,9}"[^"]')
_GRADE_ID_BYTES = 32


@dataclass(frozen=True)
class Upload:
    """A file of a student's, and what the download says of it.

    Attributes
    ----------
    found : Found
    own_name : str
        What the student called it.
    rank : (int, int)
        Higher for what was uploaded later; then for a download that was named later.
    """

    found: Found
    own_name: str
    rank: tuple[int, int]


@dataclass(eq=False)
class HandedIn:
    """All that one student handed in.

    Attributes
    ----------
    owner : Owner
    student : str
        The folder that it goes into.
    uploads : list of Upload
        What may be a notebook or hold one.
    beside : set of str
        Names of a few others, which are named where there is no notebook.
    notes, refused : list of str
        What a person should know, and why something was not read.
    allowance : Allowance
        What may still be read of it.
    """

    owner: Owner
    student: str = ""
    uploads: list[Upload] = field(default_factory=list)
    beside: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    allowance: Allowance = field(default_factory=Allowance)

    def add(self, found: Found, own_name: str, rank: tuple[int, int]) -> None:
        """Take a file in, by what it may be; one that may not be read says why itself."""
        if found.refused or is_notebook(own_name) or own_name.lower().endswith(".zip"):
            self.uploads.append(Upload(found, own_name, rank))
        elif len(self.beside) <= MOST_NAMES:
            self.beside.add(shown(own_name))


@dataclass(frozen=True)
class Candidate:
    """A notebook of which only a digest is kept; its bytes are read again when they are needed.

    Attributes
    ----------
    upload : Upload
        The file of the download that holds it, or is it.
    place : int
        Which of the upload's files it is.
    path : PurePosixPath
    name : str
        What the student called it.
    sha256 : str
    marked : bool
        Whether it holds a cell that nbgrader knows.
    """

    upload: Upload
    place: int
    path: PurePosixPath
    name: str
    sha256: str
    marked: bool

    def read(self) -> bytes:
        """Its bytes.

        Raises
        ------
        RefusedDownloadError
            If they are not those that were looked at.
        """
        allowance = Allowance()
        with members(self.upload.found, allowance) as files:
            content = b"".join(chunks(files[self.place], allowance))
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise RefusedDownloadError(
                f"{shown(self.name)} changed while it was read: collect again"
            )
        return content


def choose(assignment: str, work: HandedIn, others: Collection[str]) -> Candidate | None:
    """The notebook that counts: by name, by what is in it, then by what was uploaded last.

    Times do not count, because students set them. `others` are the other assignments: a notebook of
    that name is not taken for this one.
    """
    found = list(_candidates(work))
    wrong = [each for each in found if _stem(each.name) in others]
    candidates = [each for each in found if _stem(each.name) not in others]
    if not candidates:
        if wrong and not work.refused:
            work.refused.append(f"{shown(wrong[0].name)} is of another assignment")
        elif not work.refused:
            work.refused.append(_without_notebook(assignment, work))
        return None
    wanted = assignment.lower()
    named = [each for each in candidates if wanted in (_stem(each.name), _whole_stem(each.name))]
    fitting = named or [each for each in candidates if each.marked] or candidates
    last = max(each.upload.rank for each in fitting)
    latest = [each for each in fitting if each.upload.rank == last]
    for narrower in (
        [each for each in latest if _whole_stem(each.name) == wanted],
        [each for each in latest if len(each.path.parts) == min(len(e.path.parts) for e in latest)],
    ):
        if len({each.sha256 for each in latest}) > 1 and narrower:
            latest = narrower
    if len({each.sha256 for each in latest}) > 1:
        paths = sorted({shown("/".join(each.path.parts[1:]) or each.name) for each in latest})
        kind = f"none named {assignment}.ipynb" if not named else "nothing says which counts"
        listed = ", ".join(paths[:MOST_NAMES]) + (", …" if len(paths) > MOST_NAMES else "")
        work.refused.append(f"several notebooks, {kind}: {listed}")
        return None
    chosen = latest[0]
    versions = len({each.sha256 for each in fitting})
    if versions > 1:
        why = "the last upload" if len({each.upload.rank for each in fitting}) > 1 else "its name"
        work.notes.append(f"{versions} versions; {shown(chosen.name)} counts, by {why}")
    if chosen.name != f"{assignment}.ipynb":
        work.notes.append(f"renamed from {shown(chosen.name)}")
    elif len(chosen.path.parts) > 2:
        work.notes.append(f"found in {shown(str(chosen.path.parent))}")
    return chosen


def _without_notebook(assignment: str, work: HandedIn) -> str:
    names = sorted({shown(upload.own_name) for upload in work.uploads} | work.beside)
    listed = ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
    what = f"no notebook in {listed}" if listed else "no file at all"
    return f"{what}; ask for {assignment}.ipynb, alone or in a .zip"


def _candidates(work: HandedIn) -> Iterator[Candidate]:
    seen = 0
    for upload in work.uploads:
        try:
            with members(upload.found, work.allowance) as files:
                for place, file in enumerate(files):
                    name = upload.own_name if file is upload.found else file.path.name
                    if not is_notebook(name) and not file.refused:
                        continue
                    seen += 1
                    if seen > MOST_NOTEBOOKS_OF_A_STUDENT:
                        raise RefusedDownloadError(
                            f"more than {MOST_NOTEBOOKS_OF_A_STUDENT} notebooks"
                        )
                    sha256, marked = _looked_at(file, work.allowance)
                    yield Candidate(upload, place, file.path, name, sha256, marked)
        except RefusedDownloadError as error:
            if str(error) not in work.refused:
                work.refused.append(str(error))


def _looked_at(file: Found, allowance: Allowance) -> tuple[str, bool]:
    """A file's digest, and whether nbgrader knows one of its cells."""
    digest, marked, before = hashlib.sha256(), False, b""
    for data in chunks(file, allowance):
        digest.update(data)
        if not marked:
            marked = bool(_GRADE_ID.search(before + data))
            before = data[-_GRADE_ID_BYTES:]
    return digest.hexdigest(), marked


def _stem(name: str) -> str:
    """A notebook's name without the marks of copies: `01-averages (2)`, `01-averages-1`."""
    return re.sub(r"([ _-]*\(\d+\)|-\d{1,2}|[ _-]copy\d*)$", "", _whole_stem(name))


def _whole_stem(name: str) -> str:
    return notebook_stem(PurePosixPath(name).name).lower()
