"""What the pages about handing out and in tell an instructor to run does what they say."""

import os
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest
from classes import NAME
from typer.testing import CliRunner

from course_grader.cli import app

ROOT = Path(__file__).parents[2]


def page(name):
    return (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


def test_link_of_nbgitpuller_can_be_taken_apart():
    text = page("distribution-nbgitpuller")
    command = re.search(r"^\$ python - (.+?) <<'END'\n(.*?)^> END$", text, re.M | re.S)
    program = "\n".join(line.removeprefix("> ") for line in command[2].splitlines())
    done = subprocess.run(
        [sys.executable, "-", *command[1].split()],
        input=program,
        capture_output=True,
        text=True,
        check=True,
    )
    link = urllib.parse.urlsplit(done.stdout.strip())
    assert (link.netloc, link.path) == ("hub.example.org", "/hub/user-redirect/git-pull")
    assert urllib.parse.parse_qs(link.query) == {
        "repo": ["https://git.example.org/exercises"],
        "branch": ["exercises-only"],
        "urlpath": ["lab/tree/exercises/01-averages/01-averages.ipynb"],
    }


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_branch_of_the_exercises_holds_nothing_else(tmp_path):
    (command,) = re.findall(r"^\$ (git subtree .+)$", page("distribution"), re.M)
    known = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org"}
    known |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}

    def git(*words):
        return subprocess.run(
            words,
            cwd=tmp_path,
            env=os.environ | known,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    git("git", "init", "--quiet")
    for folder in ("solutions", "exercises"):
        (tmp_path / folder / NAME).mkdir(parents=True)
        (tmp_path / folder / NAME / f"{NAME}.ipynb").write_text(folder)
    git("git", "add", ".")
    git("git", "commit", "--quiet", "--message", "Begin")
    if subprocess.run(["git", "subtree", "-h"], capture_output=True, check=False).returncode == 1:
        pytest.skip("this git has no subtree: apt-get install git")
    git(*command.split())
    listed = git("git", "ls-tree", "-r", "--name-only", "exercises-only").split()
    assert listed == [f"{NAME}/{NAME}.ipynb"]


def test_folders_of_github_classroom_are_named_by_accounts(entered, tmp_path):
    text = page("distribution-github-classroom")
    loop = re.search(r"^\$ (for one in .+ done)$", text, re.M)[1]
    for account in ("ada-l", "exercises-fan"):
        folder = tmp_path / "all" / f"exercises-{account}" / NAME
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_text("{}")
    subprocess.run(["sh", "-c", loop], cwd=tmp_path / "all", check=True)
    told = CliRunner().invoke(
        app, ["collect", "01", str(tmp_path / "all"), "--course", str(entered.root)]
    )
    assert told.exit_code == 0, told.output
    assert {path.name for path in entered.submitted.glob("[!.]*")} == {"ada-l", "exercises-fan"}
