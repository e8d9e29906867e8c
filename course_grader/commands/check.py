"""`course check`: run a student's own notebook as a grader does, and show what every check says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from course_grader.commands.messages import escape, explained

if TYPE_CHECKING:
    from course_grader.check_notebook import Finding, Report, Result


def check(
    notebook: Annotated[
        Path, typer.Argument(help="An assignment, filled or not.", metavar="NOTEBOOK")
    ],
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=1,
            help="A cell that takes longer is stopped, and the next one runs.",
        ),
    ] = 120.0,
) -> None:
    """Run your notebook from the top as a grader does, and show what every check says.

    Nothing is left over from cells that you deleted or ran in another order, and there is no
    network, no text and no experiment. Where the grader's sandbox starts, it runs in that, so that
    your own files and packages are out of reach, too; elsewhere its code runs with your rights, so
    check your own notebooks only. The notebook itself stays as it is, so save it first.

    Exit code: 0 if every task has all its points, 1 if not, 2 if the notebook could not be run.

    **Examples**

        course check exercises/01-averages/01-averages.ipynb
        course check 01-averages.ipynb --timeout 300    on a slow machine
    """
    from course_grader.check_as_graded import check_as_graded

    console = Console()
    with explained():
        with console.status("Starting …") as status:
            report = check_as_graded(
                notebook,
                cell_seconds=timeout,
                progress=lambda cell, cells: status.update(f"Running cell {cell} of {cells} …"),
            )
        _show_report(console, report)
    if not report.passed:
        raise typer.Exit(1)


def _show_report(console: Console, report: Report) -> None:
    table = Table("", "Task", "Points", "Finding", box=None, pad_edge=False)
    for result in report.results:
        table.add_row(
            _sign(result),
            escape(result.title or result.task),
            f"{result.points:g} of {result.out_of:g}",
            _words(result),
        )
    for question in report.questions:
        given = "waits for a person" if question.changed else "not answered yet; graded by a person"
        points = f"– of {question.points or 0:g}"
        table.add_row("[blue]✎[/]", escape(question.title), points, f"[dim]{given}[/]")
    console.print(table)
    told = " ".join(finding.effect for result in report.results for finding in result.findings)
    for failure in report.failures:
        if str(failure) not in told:
            console.print(f"\n[yellow]![/] {escape(_sentence(str(failure)))}")
    for remark in report.remarks:
        console.print(f"\n[yellow]![/] {escape(_sentence(remark))}", soft_wrap=True)
    if report.stopped:
        console.print(f"\n[red]The run ended early.[/] {escape(_sentence(report.stopped))}")
    if report.conditions:
        console.print(f"\n[dim]{escape(report.conditions)}[/]", soft_wrap=True)
    color = "green" if report.passed else "yellow"
    console.print(f"\n[{color}]{report.points:g} of {report.out_of:g} points[/]")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text[-1] in ".?!" else ".")


def _sign(result: Result) -> str:
    if result.passed:
        return "[green]✓[/]"
    if result.state == "not attempted":
        return "[dim]○[/]"
    return "[yellow]◐[/]" if result.points else "[red]✗[/]"


def _words(result: Result) -> str:
    if result.passed and not result.notes:
        return "[green]right[/]"
    if result.state == "not attempted":
        return "[dim]not attempted[/]"
    lines = [] if result.findings else [result.state]
    for finding in result.findings:
        lines += _sentences(finding)
    lines += [f"[dim]Note: {escape(note)}[/]" for note in result.notes]
    return "\n".join(lines)


def _sentences(finding: Finding) -> Iterator[str]:
    yield f"[bold]{escape(finding.what)}[/]"
    if finding.effect:
        yield escape(finding.effect)
    if finding.where:
        yield f"[dim]See {escape(finding.where)}.[/]"
