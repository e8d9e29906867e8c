"""`course my-gpt`: what readers do with the program of the project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

my_gpt = typer.Typer(no_args_is_help=True, help="The GPT you wrote: train it, and send it.")


@my_gpt.callback()
def _of_the_project() -> None:
    """The GPT you wrote: train it, and send it."""


@my_gpt.command()
def train(
    program: Annotated[
        Path, typer.Argument(help="Your program, in a notebook or a .py file.", metavar="PROGRAM")
    ],
    seconds: Annotated[
        float, typer.Option(min=1, help="Of training, those of earlier runs included.")
    ] = 600.0,
    text: Annotated[
        str, typer.Option(metavar="TEXT", help="shakespeare, play, or a text file of yours.")
    ] = "shakespeare",
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget earlier runs.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Where files go; beside the program by default.")
    ] = None,
) -> None:
    """Train your program, compare it with the ladder of chapter 08, and make a page of it.

    Your own `train` runs, with your rights. The loss on a held-out part of the text is shown as it
    falls; after Ctrl-C, the same command goes on. Beside the program it leaves NAME.pt (where to go
    on), NAME.html (your model, a box to write in, and your source, in one file) and NAME.md (a card
    for the page of your repository).

    Exit code: 0 if all is written, 2 if not, 130 if you stopped it.

    **Examples**

        course my-gpt train exercises/my-gpt/my-gpt.ipynb
        course my-gpt train --seconds 60 --text play program.py
    """
    # A process of its own, because the program in it is the reader's.
    options = ["--seconds", str(seconds), "--text", text]
    options += ["--fresh"] if fresh else []
    options += ["--out", str(out)] if out else []
    command = [sys.executable, "-m", "course_figures.own_gpt", str(program), *options]
    running = subprocess.Popen(command)
    while True:
        try:
            code = running.wait()
            break
        except KeyboardInterrupt:  # the terminal tells both; the program says what it keeps
            continue
    raise typer.Exit(code)
