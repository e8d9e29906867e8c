"""The `course` command; each command is a module of `course_grader.commands`.

Nothing heavy is imported before a command needs it, so that `course --help` answers at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from course_grader.commands.check import check
from course_grader.commands.collect import collect
from course_grader.commands.data import data
from course_grader.commands.defend import defend
from course_grader.commands.doctor import doctor
from course_grader.commands.export import export
from course_grader.commands.feedback import feedback
from course_grader.commands.forget import anonymize, forget
from course_grader.commands.grade import grade
from course_grader.commands.hint import hint
from course_grader.commands.late import late
from course_grader.commands.my_gpt import my_gpt
from course_grader.commands.new import new
from course_grader.commands.regrade import regrade
from course_grader.commands.release import release
from course_grader.commands.roster import roster
from course_lib import __version__

_STUDENTS, _INSTRUCTORS = "For students", "For instructors"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""From Averages to Transformers, on the command line.

**Students**, in this order:

1. `course doctor`: does everything work on this machine?
2. `course data`: fetch the texts once, while there is a network
3. `jupyter lab exercises/`: fill an assignment; every task checks itself
4. `course check exercises/01-averages/01-averages.ipynb`: run all of it from the top, as a grader
   does
5. `course hint 05/scores`: what the check says of one task, and the next of its hints
6. `course defend 05/scores --me`: three questions about your own code
7. `course my-gpt train exercises/my-gpt/my-gpt.ipynb`: train the GPT you wrote, and send it

**Instructors**, after editing a notebook in solutions/:

1. `course release 01`: make the exercises of it
2. `course release 01 --gradebook`: once a class, also enter it into the gradebook
3. `course collect 01 submissions.zip`: put what was handed in where grading looks for it
4. `course roster students.csv`: whose submissions are there, and whose are not
5. `course grade 01`: grade what lies in submitted/, in a sandbox
6. `course late 01`: who was late and what it costs, counted again without grading
7. `course regrade 01`: grade again, and see who gains and who loses before it is written
8. `course defend 01`: ask everybody about the code that they handed in
9. `course feedback 01 --for moodle`: write what students get back
10. `course export 01`: write the scores for your learning platform
11. `course forget STUDENT`, `course anonymize FOLDER`: delete a student, or all names

`course COMMAND --help` shows examples of each command.
""",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"course {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Common to all commands; the help of the application is above."""


# In the order of their use, which is how `course --help` lists them.
for student_command in (doctor, data, check, hint, defend):
    app.command(rich_help_panel=_STUDENTS)(student_command)
for instructor_command in (
    *(release, collect, roster, grade, late, regrade),
    *(feedback, export, forget, anonymize),
):
    app.command(rich_help_panel=_INSTRUCTORS)(instructor_command)
app.add_typer(my_gpt, name="my-gpt", rich_help_panel=_STUDENTS)
app.add_typer(new, name="new", rich_help_panel="For contributors")


if __name__ == "__main__":
    app(prog_name="course")
