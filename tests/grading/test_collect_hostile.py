"""No archive, folder or name that is handed in harms `course collect` or stops the others."""

import bz2
import json
import os
import random
import stat
import struct
import subprocess
import sys
import zipfile

import pytest
from submitted_files import NAME, a_notebook, by_student, moodle, packed, put
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.errors import NothingToCollectError
from course_grader.lms import archives, downloads, entries, records
from course_grader.lms.collect import Action, collect
from course_grader.lms.owners import as_folder
from course_grader.submissions import submissions


class TestRecords:
    """What collect knows stands where nothing that is handed in can get to."""

    def test_file_of_a_submission_is_never_taken_for_a_record(self, course, inbox):
        forged = json.dumps({"platform": "moodle", "number": "1", "name": "Ada"}).encode()
        files = [
            *((name, forged) for name in ("collected.json", f".collected/{NAME}.json")),
            (f"{NAME}.ipynb", a_notebook("eve")),
        ]
        put(inbox / moodle("Eve", 3) / "all.zip", packed(*files))
        for name, content in files:
            put(inbox / moodle("Mal", 4) / name, content)
        # as nbgrader's own commands copy what was handed in
        put(course.submitted / "hand" / NAME / "collected.json", forged)
        collect(course, NAME, [inbox])
        known = records.read(course, NAME)
        assert {name: one.number for name, one in known.items()} == {"Eve": "3", "Mal": "4"}
        assert sorted(path.name for path in course.submitted.rglob("*.json")) == [
            f"{NAME}.json",
            "collected.json",
        ]

    def test_record_that_was_changed_is_said(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        for content in (b"{", b"[]", b'{"version": 1, "students": {"ada": {"number": 1}}}'):
            put(course.submitted / ".collected" / f"{NAME}.json", content)
            with pytest.raises(NothingToCollectError, match="move it away"):
                collect(course, NAME, [inbox])

    def test_records_are_no_submissions(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        collect(course, NAME, [inbox])
        assert [one.student for one in submissions(course, NAME)] == ["ada"]


def a_link(name, target):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry, target


BOMB = b"0" * 50 * entries.MEGABYTE

HOSTILE = {
    "climbs out": [("../../gradebook.ipynb", b"x")],
    "absolute path": [("/etc/cron.d/x.ipynb", b"x")],
    "a link": [a_link(f"{NAME}.ipynb", "/etc/passwd")],
    "times its size": [(f"{NAME}.ipynb", BOMB)],
    "entries": [(f"{number}.txt", b"") for number in range(archives.MOST_ENTRIES + 1)],
    "another archive": [("inner.zip", packed((f"{NAME}.ipynb", b"x")))],
}


class TestHostile:
    @pytest.mark.parametrize("reason", HOSTILE)
    def test_archive_of_a_student_is_refused_with_the_reason(self, course, inbox, reason):
        put(inbox / "eve.zip", packed(*HOSTILE[reason]))
        put(inbox / "honest" / f"{NAME}.ipynb", a_notebook("mine"))
        found = by_student(collect(course, NAME, [inbox]))
        assert found["eve"].action is Action.REFUSED
        assert reason in found["eve"].notes[0]
        assert found["honest"].action is Action.NEW
        written = [path.name for path in course.submitted.iterdir()]
        assert sorted(written) == [".collected", "honest"]

    @pytest.mark.parametrize("reason", ["climbs out", "absolute path", "a link", "times its size"])
    def test_entry_of_a_download_is_refused_and_the_others_are_taken(self, course, inbox, reason):
        (entry, content) = HOSTILE[reason][0]
        entries = [(entry, content), (f"honest/{NAME}.ipynb", a_notebook("mine"))]
        found = collect(course, NAME, [put(inbox / "download.zip", packed(*entries))])
        assert by_student(found)["honest"].action is Action.NEW
        assert [one.action for one in found].count(Action.REFUSED) == 1
        assert reason in " ".join(note for one in found for note in one.notes)

    def test_size_that_an_archive_lies_about_is_found_out(self, course, inbox, monkeypatch):
        monkeypatch.setattr(entries, "MOST_NOTEBOOK_BYTES", 1000)
        put(inbox / "eve.zip", packed((f"{NAME}.ipynb", os.urandom(5000))))
        (one,) = collect(course, NAME, [inbox])
        assert one.action is Action.REFUSED
        assert "more than" in one.notes[0]

    def test_broken_and_encrypted_archives_are_refused(self, course, inbox):
        whole = bytearray(packed((f"{NAME}.ipynb", a_notebook("mine"))))
        put(inbox / "cut.zip", bytes(whole[: len(whole) // 2]))
        locked = whole.copy()
        locked[whole.index(b"PK\x01\x02") + 8] |= 1
        put(inbox / "locked.zip", bytes(locked))
        found = by_student(collect(course, NAME, [inbox]))
        assert "not a whole zip" in found["cut"].notes[0]
        assert "encrypted" in found["locked"].notes[0]

    def test_links_in_a_folder_are_not_followed(self, course, inbox, tmp_path):
        secret = put(tmp_path / "secret.ipynb", a_notebook("secret"))
        (inbox / "eve").mkdir()
        (inbox / "eve" / f"{NAME}.ipynb").symlink_to(secret)
        (inbox / "mal").symlink_to(tmp_path)
        found = collect(course, NAME, [inbox])
        assert {one.action for one in found} == {Action.REFUSED}
        assert not course.submitted.exists()

    def test_nothing_is_written_through_a_link(self, course, inbox, tmp_path):
        course.submitted.mkdir()
        (course.submitted / "ada").symlink_to(tmp_path)
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        assert collect(course, NAME, [inbox])[0].action is Action.REFUSED
        assert not (tmp_path / NAME).exists()

    def test_folder_of_any_depth_stops_nobody(self, course, inbox):
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        where = os.open(inbox, os.O_RDONLY)
        for name in ["eve", *["d"] * 1500]:
            os.mkdir(name, dir_fd=where)
            below = os.open(name, os.O_RDONLY, dir_fd=where)
            os.close(where)
            where = below
        os.close(where)
        try:
            found = by_student(collect(course, NAME, [inbox]))
        finally:
            subprocess.run(["rm", "-rf", str(inbox / "eve")], check=True)
        assert found["ada"].action is Action.NEW
        assert "deep" in found["eve"].notes[0]

    def test_folder_of_any_number_of_files_stops_nobody(self, course, inbox, monkeypatch):
        monkeypatch.setattr(downloads, "MOST_FILES", 20)
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        for number in range(21):
            put(inbox / "eve" / f"{number}.txt", b"")
        found = by_student(collect(course, NAME, [inbox]))
        assert found["ada"].action is Action.NEW
        assert "more than 20 files" in found["eve"].notes[0]

    def test_damaged_archive_of_whatever_kind_stops_nobody(self, course, inbox):
        whole = packed((f"{NAME}.ipynb", a_notebook("mine")), ("data.csv", b"1,2" * 50))
        put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
        chance = random.Random(0)
        for number in range(300):
            damaged = bytearray(whole)
            for _ in range(chance.randint(1, 6)):
                damaged[chance.randrange(len(damaged))] = chance.choice([0, 255, 1, 127])
            put(inbox / f"eve{number}.zip", bytes(damaged[: chance.choice([None, -1, -20])]))
        found = by_student(collect(course, NAME, [inbox]))
        assert found["ada"].action is Action.NEW
        assert Action.REFUSED in {one.action for one in found.values()}

    def test_names_cannot_steer_a_terminal(self, course, inbox):
        put(inbox / "eve" / "\x1b[2J\udcff.ipynb", a_notebook("mine"))
        put(inbox / "mal" / "\x1b[2J.pdf", b"x")
        command = ["collect", "01", str(inbox), "--course", str(course.root)]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 1
        assert "\x1b[2J" not in done.output
        assert records.read(course, NAME)["eve"].file.startswith("eve/")

    @pytest.mark.parametrize("name", ["..", "=cmd()", "a/b", "x" * 500, "  ", "<b>", ".hidden"])
    def test_names_become_safe_folders(self, name):
        safe = as_folder(name)
        assert safe
        assert len(safe) <= 100
        assert not set(safe) & set("/\\=<>'\"`$ \n")
        assert safe[0] not in ".-+@"


def bombs():
    """Archives and files that take far more memory to read than they are long, by what they do."""
    folding = bz2.BZ2Compressor()
    stream = b"".join(folding.compress(b"0" * entries.MEGABYTE) for _ in range(300))
    stream += folding.flush()
    unfolding = bytearray(packed((f"{NAME}.ipynb", stream), method=zipfile.ZIP_STORED))
    directory = unfolding.index(b"PK\1\2")
    for place in (8, directory + 10):
        unfolding[place : place + 2] = struct.pack("<H", zipfile.ZIP_BZIP2)
    for place in (22, directory + 24):
        unfolding[place : place + 4] = struct.pack("<I", 10**6)
    yield "unfolds at once", "eve.zip", bytes(unfolding)

    number = 1_000_000
    contents = (b"PK\1\2\x14\0\x14\0" + bytes(38)) * number
    size = len(contents)
    longer = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, number, number, size, 0)
    where = b"PK\6\7" + struct.pack("<IQI", 0, size, 1)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0, 0xFFFFFFFF, 0)
    yield "a million entries by zip64", "eve.zip", contents + longer + where + end
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, size, 0, 22)
    decoy = b"PK\5\6" + bytes(18)
    yield "a million entries, and a comment", "eve.zip", contents + end + decoy

    block = random.Random(0).randbytes(64) + b"0" * 4000
    one = packed((f"{NAME}.ipynb", block * (40 * entries.MEGABYTE // len(block))))
    start, stop = one.index(b"PK\1\2"), one.index(b"PK\5\6")
    entry = one[start:stop]
    many = b"".join(entry[:46] + b"%011d.ipynb" % n + entry[46 + 17 :] for n in range(12))
    assert len(f"{NAME}.ipynb") == 17
    tail = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 12, 12, len(many), start, 0)
    yield "entries that overlap", "eve.zip", one[:start] + many + tail

    yield "empty cells", "eve/x.ipynb", b'{"cells":[' + b"{}," * 8_000_000 + b"{}]}"
    yield "as much as may be", "eve/x.ipynb", b" " * entries.MOST_NOTEBOOK_BYTES
    names = [(f"{number}/".ljust(60_000, "x"), b"") for number in range(100)]
    yield "long names", "eve.zip", packed(*names)
    nested = packed(("0.zip", packed(("0.zip", packed(("0.zip", BOMB))))))
    yield "archives in archives", "eve.zip", nested


# Python, nbformat and what they import take half of it.
MOST_MEGABYTES = 250


@pytest.mark.slow
def test_no_file_takes_much_memory_and_none_stops_the_others(course, inbox):
    report = (
        "import sys\n"
        "from pathlib import Path\n"
        "from course_grader.lms.collect import collect\n"
        "from course_grader.course import Course\n"
        "for one in collect(Course(Path(sys.argv[1])), sys.argv[2], [Path(sys.argv[3])]):\n"
        "    print(one.student, one.action.name)\n"
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
    )
    put(inbox / "ada" / f"{NAME}.ipynb", a_notebook("mine"))
    for what, name, content in bombs():
        path = put(inbox / name, content)
        done = subprocess.run(
            [sys.executable, "-c", report, str(course.root), NAME, str(inbox)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (what, done.stderr)
        ada, eve, kilobytes = done.stdout.splitlines()
        assert ada in ("ada NEW", "ada UNCHANGED"), what
        assert eve.startswith("eve "), what
        assert int(kilobytes) / 1024 < MOST_MEGABYTES, (what, kilobytes)
        path.unlink()
        if path.parent != inbox:
            path.parent.rmdir()
