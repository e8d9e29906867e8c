"""Tables of other programs: written harmlessly, and filled without touching the rest.

A spreadsheet runs a cell that begins with `=`. A learning platform wants its own file back, so that
what is filled is one field, and every other byte stays.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from course_grader.atomic import write_atomically
from course_grader.errors import UnreadableSheetError

# What a spreadsheet takes for the beginning of a formula, in East Asian width, too.
_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_FORMULA = re.compile(rf"[\t\r]|\s*[{_SIGNS}]")
# Where a comma is the sign in numbers, as in German, a spreadsheet begins a new cell at a
# semicolon, whether it stands between quotation marks or not.
_CELL_BEHIND = re.compile(rf";(?=[\s\"']*[{_SIGNS}])")
# What a terminal would take for a command, where somebody looks at the file there.
_CONTROL = re.compile(r"[\x01-\x1f\x7f-\x9f]")


def harmless(value: Any) -> Any:
    """A value as a spreadsheet may show it: no formula, no line break; numbers stay numbers.

    >>> harmless("=1+1"), harmless("two\\nlines"), harmless(-1.5), harmless("a;=1+1")
    ("'=1+1", 'two lines', -1.5, "a;'=1+1")
    """
    if value is None:
        return ""
    if isinstance(value, int | float):
        return value
    text = str(value)
    safe = re.sub(r"[\n\r\t]", " ", text.replace("\0", ""))
    safe = _CELL_BEHIND.sub(";'", _CONTROL.sub("\N{REPLACEMENT CHARACTER}", safe))
    return f"'{safe}" if _FORMULA.match(text) else safe


def number(points: float) -> str:
    """Points as a platform reads them: at most two decimals, none that say nothing.

    >>> number(3.0), number(2.126)
    ('3', '2.13')
    """
    return f"{points:.2f}".rstrip("0").rstrip(".")


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Write a table of harmless cells as CSV in UTF-8.

    Raises
    ------
    NotWrittenError
        If it cannot be written.
    """
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow([harmless(each) for each in header])
    table.writerows([[harmless(each) for each in row] for row in rows])
    write_atomically(path, text.getvalue())
    return path


def no_table(path: Path, error: Exception) -> UnreadableSheetError:
    """Why a file is no table, with the remedy; to be raised.

    Parameters
    ----------
    path : Path
    error : UnicodeDecodeError or csv.Error
    """
    with path.open("rb") as file:
        workbook = file.read(4) == b"PK\x03\x04"
    what = "is a spreadsheet program's own file" if workbook else f"is not UTF-8 CSV ({error})"
    return UnreadableSheetError(f"{path} {what}: save or export it as CSV (UTF-8)")


class Sheet:
    """A CSV file of a platform, of which single fields are filled.

    Parameters
    ----------
    path : Path
        As the platform exported it; never changed.

    Attributes
    ----------
    header : list of str
        Names of the columns.
    rows : list of list of str
        Values of each row below, without quotes.

    Raises
    ------
    UnreadableSheetError
        If it is not there, not UTF-8, or holds no row.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as error:
            raise UnreadableSheetError(f"{path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise no_table(path, error) from error
        self._mark = "\N{ZERO WIDTH NO-BREAK SPACE}" if text[:1] == "\ufeff" else ""
        self._lines = _records(text[len(self._mark) :], path)
        if len(self._lines) < 2:
            raise UnreadableSheetError(f"{path} has no rows of students: export it again")
        self.header = [_value(raw) for raw in self._lines[0][0::2]]
        self.rows = [[_value(raw) for raw in line[0::2]] for line in self._lines[1:]]

    def column(self, *names: str, needed: bool = True) -> int:
        """The place of the first column of one of these names, however it is written; or -1.

        Raises
        ------
        UnreadableSheetError
            If it is needed and not there.
        """
        known = [name.strip().lower() for name in self.header]
        for name in names:
            if name.lower() in known:
                return known.index(name.lower())
        if needed:
            there = ", ".join(self.header[:20])
            raise UnreadableSheetError(f"{self.path} has no column {names[0]!r}; it has: {there}")
        return -1

    def value(self, row: int, column: int) -> str:
        """A field without quotes; empty where the row is shorter or the column is -1."""
        values = self.rows[row]
        return values[column].strip() if 0 <= column < len(values) else ""

    def fill(self, row: int, column: int, value: str) -> None:
        """Put a value into a field; a row that is too short is left, with an error.

        Raises
        ------
        UnreadableSheetError
            If the row has no such field.
        """
        line = self._lines[row + 1]
        if column * 2 >= len(line):
            raise UnreadableSheetError(
                f"{self.path}: row {row + 2} has too few fields; export it again"
            )
        line[column * 2] = value
        self.rows[row][column] = value

    def save(self, path: Path) -> Path:
        """Write it under another name.

        Raises
        ------
        NotWrittenError
            If it cannot be written.
        """
        text = self._mark + "".join("".join(line) for line in self._lines)
        write_atomically(path, text)
        return path


def _records(text: str, path: Path) -> list[list[str]]:
    """Rows of raw fields, each followed by the separator or line end behind it."""
    first = text.splitlines()[0] if text.strip() else ""
    bare = re.sub(r'"(?:[^"]|"")*"', "", first)
    separator = max(",;\t", key=bare.count)
    field = re.compile(rf'(?:"(?:[^"]|"")*"|[^"\r\n{separator}])*')
    records: list[list[str]] = []
    line: list[str] = []
    at = 0
    while at < len(text):
        found = field.match(text, at)
        raw = found.group() if found else ""
        at += len(raw)
        behind = "\r\n" if text.startswith("\r\n", at) else text[at : at + 1]
        if behind and behind not in (separator, "\n", "\r", "\r\n"):
            raise UnreadableSheetError(f"{path}: a quote in row {len(records) + 1} is never closed")
        at += len(behind)
        line += [raw, behind]
        if behind != separator:
            records.append(line)
            line = []
    if line:
        records.append([*line, "", ""])
    return records


def _value(raw: str) -> str:
    text = raw.strip()
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('""', '"') if quoted else raw
