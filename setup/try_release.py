"""Grade two submissions with the course that is installed here, and say which release that is.

    python setup/try_release.py FOLDER

FOLDER becomes a course of chapter 01, beside which nothing of the sources is needed: `ada` hands in
the solutions, `ben` an empty notebook. What comes of it must be all points for the one and none for
the other, on pages and in tables that name the release. CI does this with a wheel in an empty
environment; so can whoever makes a release.
"""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

NAME = "01-averages"
SOURCES = Path(__file__).resolve().parents[1]


def main(folder: Path) -> None:
    """Make the course in a folder that is not there yet, grade it, and look at what came of it."""
    folder.mkdir(parents=True)
    shutil.copy(SOURCES / "nbgrader_config.py", folder)
    for part in ("solutions", "exercises"):
        shutil.copytree(SOURCES / part / NAME, folder / part / NAME)
    for student, part in (("ada", "solutions"), ("ben", "exercises")):
        shutil.copytree(SOURCES / part / NAME, folder / "submitted" / student / NAME)

    release = course(folder, "--version").split()[-1]
    course(folder, "release", "01", "--gradebook")
    course(folder, "grade", "01")
    look_at(folder, release)
    print(f"release {release} grades: all points for right answers, none for empty ones")


def course(folder: Path, *arguments: str) -> str:
    """What a command of the course says; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from course_grader.cli import app; app()", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    expect(done.returncode == 0, f"course {' '.join(arguments)}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def look_at(folder: Path, release: str) -> None:
    """The points of both, and the release in the gradebook, the table, the report and the pages."""
    with contextlib.closing(sqlite3.connect(folder / "gradebook.db")) as gradebook:
        known = gradebook.execute("select graded_by from course_runs").fetchall()
    expect(known == [(release,)] * 2, f"the gradebook says {known}")
    with (folder / "reports" / f"{NAME}.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    expect(rows.keys() == {"ada", "ben"}, str(rows))
    earned = {student: float(row["points"]) for student, row in rows.items()}
    expect(earned == {"ada": points_of_checks(), "ben": 0.0}, f"the points are {earned}")
    for student, row in rows.items():
        expect(row["release"] == release, f"{student} was graded by {row['release']!r}")
        page = folder / "feedback" / student / NAME / f"{NAME}.html"
        expect(f"by release {release} of the course" in page.read_text(encoding="utf-8"), str(page))
    report = (folder / "reports" / f"{NAME}.html").read_text(encoding="utf-8")
    expect(f"by release {release} of the course" in report, "the report names no release")


def points_of_checks() -> float:
    """What the checks are worth together; the other points are given by a person."""
    text = (SOURCES / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return float(sum(cell["metadata"].get("nbgrader", {}).get("points", 0) for cell in cells))


def expect(holds: bool, otherwise: str) -> None:
    """End with words where something is not as it should be."""
    if not holds:
        sys.exit(f"the release does not hold: {otherwise}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
