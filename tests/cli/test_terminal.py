"""Words that others chose move no terminal's cursor."""

from pathlib import Path

import pytest

import course_grader
from course_grader.commands.messages import escape


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("ada\x1b[2J\x1b]0;title\x07", "ada�[2J�]0;title�"),
        ("\x9b31mred", "�31mred"),
        ("[bold]ada[/]", r"\[bold]ada\[/]"),
        ("first\nsecond", "first\nsecond"),
        ("\u202egnirts", "�gnirts"),
        ("caf\udce9", "caf�"),
        ("Zoë", "Zoë"),
    ],
)
def test_name_is_shown_without_commands_to_the_terminal(words, shown):
    assert escape(words) == shown


def test_no_command_shows_words_in_another_way():
    packages = Path(course_grader.__file__).parent
    own = packages / "commands" / "messages.py"
    others = [path for path in packages.rglob("*.py") if path != own]
    assert not [path for path in others if "rich.markup" in path.read_text(encoding="utf-8")]
