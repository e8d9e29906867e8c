"""`course data`: fetch the texts of the course, and show where they are."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from course_grader.commands.messages import escape, explained


def data(
    name: Annotated[
        str | None,
        typer.Argument(help="shakespeare, names or play; all of them by default.", metavar="NAME"),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Only look on this machine; fetch nothing.")
    ] = False,
) -> None:
    """Fetch the texts that the course reads, and show where they are.

    A text is looked for in the folder that COURSE_DATA names, then in the cache (the folder that
    COURSE_CACHE names, or the system's own), then at its public address; its SHA-256 digest is
    always compared. The play is written by the course itself: `course data play` shows what the
    program that wrote it knows, the loss that no model can beat.

    Exit code: 0 if every text that was asked for is there, 1 if not.

    **Examples**

        course data                every text, fetched where it is missing
        course data shakespeare    one of them
        course data --offline      what is here already
        course data play           the floor of the play and its dependencies
    """
    with explained():
        from course_lib.data import NAMES
        from course_lib.data.corpora import SOURCES
        from course_lib.errors import UnknownCorpusError

        if name is not None and name not in NAMES:
            raise UnknownCorpusError(f"there is no text {name!r}; there are {', '.join(NAMES)}")
        console = Console()
        if name == "play":
            _show_play(console)
            return
        wanted = [name] if name else list(SOURCES)
        table = Table("Text", "Where", "Characters", "Symbols", "SHA-256", box=None, pad_edge=False)
        missing = []
        for one in wanted:
            row, problem = _corpus_row(one, offline)
            table.add_row(*row)
            if problem:
                missing.append(problem)
        if name is None:
            table.add_row("play", "written when it is asked for", "", "", "[dim]no file[/]")
        console.print(table)
        for problem in missing:
            console.print(f"\n[red]✗[/] {escape(problem)}", soft_wrap=True)
        if missing:
            raise typer.Exit(1)


def _corpus_row(name: str, offline: bool) -> tuple[tuple[str, ...], str]:
    """Cells of a text's row in the table, and why it is not there, or nothing."""
    from course_lib.data import find, load
    from course_lib.data.corpora import SOURCES
    from course_lib.errors import CorpusUnavailableError

    digest = SOURCES[name].sha256[:12] + "…"
    if offline and find(name) is None:
        problem = f"{name} is not on this machine; fetch it: course data {name}"
        return (name, "[red]not here[/]", "", "", digest), problem
    try:
        corpus = load(name, fallback=False)
    except CorpusUnavailableError as error:
        return (name, "[red]not to be had[/]", "", "", digest), str(error)
    return (
        name,
        escape(str(find(name))),
        f"{len(corpus.text):,}",
        str(len(corpus.vocabulary)),
        f"[green]✓[/] {digest}",
    ), ""


def _show_play(console: Console) -> None:
    """The floor of the play, by position in its structure, and the worth of its dependencies."""
    from course_lib.data import load, play

    with console.status("Writing the play …"):
        comedy = play.write()
        corpus = load("play")
    validation = slice(len(corpus.train), None)
    console.print(
        f"The play: {len(comedy.text):,} characters, {len(corpus.vocabulary)} symbols, seed "
        f"{comedy.seed}; written when it is asked for, the same on every machine.\n"
        f"No model can beat [bold]{comedy.floor():.4f}[/] nats a character "
        f"([bold]{comedy.floor(validation):.4f}[/] on the validation split).\n"
    )
    table = Table("Position", "Share", "Nats a character", box=None, pad_edge=False)
    for position, (share, floor) in comedy.floor_by_position(validation).items():
        table.add_row(position, f"{share:.1%}", f"{floor:.4f}")
    console.print(table, "")
    table = Table("Dependency", "Characters back", "Nats it saves", "What it is", box=None)
    for one in comedy.dependencies():
        table.add_row(one.name, f"{one.length:.0f}", f"{one.worth:.4f}", escape(one.description))
    console.print(table)
