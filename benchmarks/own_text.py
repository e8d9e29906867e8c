"""A text of one's own as a corpus: seconds and memory, beside a pass over the text as a string.

Run as ``python -m benchmarks.own_text``; prints a table. Each text has a process of its own, since
what a process held at most is counted from its beginning.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

PIECES = {
    "English": "To be, or not to be, that is the question:\r\n",
    "German, with emoji": "Über allen Gipfeln ist Ruh, in allen Wipfeln 🌲 spürest du\n",
    "Chinese": "床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。\n",
}
MEGABYTES = 200


def most_held() -> int:
    """The most memory that this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(kind: str) -> None:
    """Print characters, processor seconds to read and to make a corpus, and what that takes."""
    from course_lib import data

    piece = PIECES[kind]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        size = len(piece.encode())
        with path.open("wb") as file:  # in parts, since what a process held at most is never less
            for _ in range(MEGABYTES):
                file.write(piece.encode() * (10**6 // size))
        before, began = most_held(), time.process_time()
        corpus = data.of_file(path)
        making, held = time.process_time() - began, most_held() - before
        began = time.process_time()
        path.read_text("utf-8")
        reading = time.process_time() - began
    characters, tokens = len(corpus.text), corpus.splits["train"].element_size()
    print(characters, reading, making, tokens, held / characters)


def main() -> None:
    """Measure each kind of text in turn."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--kind", choices=PIECES, help="in this process, without a table")
    kind = parser.parse_args().kind
    if kind:
        return measure(kind)
    table = Table(title=f"{MEGABYTES} MB of text in a file")
    for column in (
        "text", "characters", "read_text, s", "of_file, s", "ratio", "bytes a token",
        "bytes a character at most, text and file included",
    ):  # fmt: skip
        table.add_column(column, justify="left" if column == "text" else "right")
    for each in PIECES:
        command = [sys.executable, "-m", "benchmarks.own_text", "--kind", each]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        characters, reading, making, tokens, held = map(float, said.split()[-5:])
        row = (f"{characters:,.0f}", f"{reading:.2f}", f"{making:.2f}", f"{making / reading:.1f}")
        table.add_row(each, *row, f"{tokens:.0f}", f"{held:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
