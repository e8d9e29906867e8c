"""`course doctor`: what works on this machine, and how to mend what does not."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

from course_grader.commands.messages import escape


def doctor() -> None:
    """Say what works on this machine, what does not, and how to mend it.

    Everything is tried, not believed: a kernel is started, the texts are read, the sandbox and the
    browser run.

    Exit code: 0 if all that **students** need works, 1 if not. What only instructors or
    contributors need is shown and does not count, nor do missing texts: the built-in play stands
    in for them.

    **Example**

        course doctor
    """
    from course_grader.doctor import Diagnosis, examine

    console = Console()
    table = Table("", "What", "Needed by", "Found", box=None, pad_edge=False)
    found: list[Diagnosis] = []
    with console.status("Trying …") as status:
        for one in examine():
            found.append(one)
            status.update(f"Trying … {one.name}")
    for one in found:
        sign = "[green]✓[/]" if one.works else "[yellow]–[/]" if one.optional else "[red]✗[/]"
        remedy = f"\n[bold]→ {escape(one.remedy)}[/]" if one.remedy and not one.works else ""
        table.add_row(sign, one.name, one.need.value, escape(one.found) + remedy)
    console.print(table)
    broken = [one.name for one in found if one.stops_students]
    if broken:
        console.print(f"\n[red]Students cannot work yet:[/] fix {', '.join(broken)}.")
        raise typer.Exit(1)
    others = [one.name for one in found if not one.works and not one.optional]
    rest = f" Only instructors or contributors need: {', '.join(others)}." if others else ""
    console.print(f"\n[green]Everything that students need works.[/]{rest}")
