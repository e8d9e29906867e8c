"""Files that students exchange while they are read: what was opened is judged, and no link is
followed.
"""

import os
import pwd
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from submitted_files import NAME, a_notebook, put
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.errors import NothingToCollectError, RefusedDownloadError
from course_grader.lms import opened
from course_grader.lms.collect import Action, collect
from course_grader.lms.downloads import parts
from course_grader.lms.entries import Allowance, chunks
from course_grader.lms.exchange import inbound, inbound_of
from course_lib.errors import ConfigError

ME = pwd.getpwuid(os.geteuid()).pw_name
SECRET = b'{"secret": "of a file that only the instructor may read"}'


def handed_in(inbound_folder, user="eve", hour=10, content=None):
    """A folder as nbgrader names it; whose it is, its name does not say."""
    folder = inbound_folder / f"{user}+{NAME}+2026-03-01 {hour}:00:00 UTC+xyz"
    put(folder / f"{NAME}.ipynb", a_notebook(user) if content is None else content)
    os.utime(folder, (1772359200 + 3600 * (hour - 10),) * 2)
    return folder


@pytest.fixture
def secret(tmp_path):
    place = tmp_path / "instructors" / f"{NAME}.ipynb"
    put(place, SECRET)
    place.chmod(0o600)
    return place


class TestCollect:
    def test_each_notebook_goes_to_the_owner_of_its_folder_with_the_servers_time(
        self, course, inbox
    ):
        handed_in(inbox, "somebody-else", 10, a_notebook("first"))
        last = handed_in(inbox, "somebody-else", 11, a_notebook("last"))
        put(last / "nbgrader_config.py", b"import os")
        os.utime(last, (1772359200 + 3600,) * 2)
        handed_in(inbox.parent / "other", "eve", 12)
        (found,) = collect(course, NAME, [inbox], exchange=True)
        assert (found.student, found.action) == (ME, Action.NEW)
        assert str(found.timestamp) == "2026-03-01 11:00:00"
        folder = course.submitted / ME / NAME
        assert (folder / f"{NAME}.ipynb").read_bytes() == a_notebook("last")
        assert (folder / "timestamp.txt").read_text() == "2026-03-01 11:00:00 UTC\n"
        assert sorted(path.name for path in folder.iterdir()) == [f"{NAME}.ipynb", "timestamp.txt"]

    def test_links_pipes_and_missing_notebooks_are_refused_with_the_reason(
        self, course, inbox, secret
    ):
        (inbox / f"a+{NAME}+1").symlink_to(secret.parent)
        folder = inbox / f"b+{NAME}+1"
        folder.mkdir()
        (folder / f"{NAME}.ipynb").symlink_to(secret)
        found = collect(course, NAME, [inbox], exchange=True)
        assert {one.action for one in found} == {Action.REFUSED}
        assert {one.notes[0].split(" is ", 1)[1] for one in found} == {"a link"}
        (folder / f"{NAME}.ipynb").unlink()
        os.mkfifo(folder / f"{NAME}.ipynb")
        found = collect(course, NAME, [inbox], exchange=True)
        assert "is not a regular file" in found[-1].notes[0] + found[0].notes[0]
        assert SECRET not in b"".join(
            path.read_bytes() for path in course.submitted.rglob("*") if path.is_file()
        )

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
    def test_hard_link_to_somebody_elses_notebook_is_refused(self, course, inbox, secret):
        folder = handed_in(inbox)
        (folder / f"{NAME}.ipynb").unlink()
        os.link(secret, folder / f"{NAME}.ipynb")
        os.chown(folder, 61001, 61001)
        (found,) = collect(course, NAME, [inbox], exchange=True)
        assert (found.student, found.action) == ("61001", Action.REFUSED)
        assert "belongs to root, and the folder to 61001" in found.notes[0]

    def test_empty_or_missing_exchange_is_said(self, course, inbox):
        with pytest.raises(NothingToCollectError, match=f"holds nothing for {NAME}"):
            collect(course, NAME, [inbox], exchange=True)
        with pytest.raises(NothingToCollectError, match="cannot be read"):
            collect(course, NAME, [inbox / "none"], exchange=True)

    def test_command_of_the_page_collects_from_the_exchange_of_the_settings(self, course, tmp_path):
        page = Path(__file__).parents[2] / "book" / "distribution-exchange.md"
        (command,) = re.findall(r"^\$ (course collect .+)$", page.read_text("utf-8"), re.M)
        with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
            settings.write(f'\nc.Exchange.root = "{tmp_path}/exchange"\n')
        handed_in(tmp_path / "exchange" / "averages-to-transformers" / "inbound")
        words = command.split()[1:]
        told = CliRunner().invoke(app, [*words, "--course", str(course.root)])
        assert told.exit_code == 0, told.output
        assert "2026-03-01 10:00:00" in told.output
        assert "No archive says" not in told.output
        assert (course.submitted / ME / NAME / f"{NAME}.ipynb").is_file()

    def test_settings_without_the_courses_name_are_said(self, course):
        (course.root / "nbgrader_config.py").write_text("c = get_config()\n", encoding="utf-8")
        with pytest.raises(ConfigError, match="course_id"):
            inbound_of(course)


class TestRace:
    """What is exchanged between a look and an open, at the worst moment."""

    def read(self, found):
        return b"".join(chunks(found, Allowance()))

    def test_notebook_that_becomes_a_link_is_not_read(self, inbox, secret):
        notebook = inbox / "eve" / f"{NAME}.ipynb"
        put(notebook, a_notebook("mine"))
        with parts(inbox) as (part,):
            (found,) = part.files()
            assert not found.refused
            notebook.unlink()
            notebook.symlink_to(secret)
            with pytest.raises(RefusedDownloadError, match="is a link"):
                self.read(found)

    def test_folder_on_the_way_that_becomes_a_link_is_not_passed(self, inbox, secret):
        notebook = inbox / "eve" / "deep" / f"{NAME}.ipynb"
        put(notebook, a_notebook("mine"))
        with parts(inbox) as (part,):
            (found,) = part.files()
            shutil.rmtree(inbox / "eve" / "deep")
            (inbox / "eve" / "deep").symlink_to(secret.parent)
            with pytest.raises(RefusedDownloadError, match="is a link"):
                self.read(found)
            shutil.rmtree(inbox / "eve")
            (inbox / "eve").symlink_to(secret.parent)
            with pytest.raises(RefusedDownloadError, match="is a link"):
                list(part.files())

    def test_notebook_that_becomes_a_pipe_is_not_waited_for(self, inbox):
        notebook = inbox / "eve" / f"{NAME}.ipynb"
        put(notebook, a_notebook("mine"))
        with parts(inbox) as (part,):
            (found,) = part.files()
            notebook.unlink()
            os.mkfifo(notebook)
            with pytest.raises(RefusedDownloadError, match="not a regular file"):
                self.read(found)

    def test_folder_of_the_exchange_that_is_exchanged_is_read_as_it_was_opened(self, inbox, secret):
        folder = handed_in(inbox)
        with inbound(inbox, NAME) as known:
            folder.rename(inbox / "aside")
            folder.symlink_to(secret.parent)
            ((found,),) = [list(part.files()) for part in known.parts]
            assert self.read(found) == a_notebook("eve")

    def test_link_that_comes_and_goes_is_never_followed(self, course, inbox, secret):
        """As the attack did: exchanged as fast as possible, while files are collected."""
        folder, stop = handed_in(inbox), threading.Event()
        notebook, link, kept = (folder / f"{NAME}.ipynb", folder / "link", folder / "kept")
        notebook.rename(kept)

        def exchange():
            while not stop.is_set():
                link.symlink_to(secret)
                link.rename(notebook)
                os.link(kept, link)
                link.rename(notebook)

        attack = threading.Thread(target=exchange)
        attack.start()
        taken = []
        try:
            for _ in range(40):
                for one in inbound, parts:
                    with one(inbox, NAME) if one is inbound else one(inbox) as known:
                        listed = known.parts if one is inbound else known
                        for found in (each for part in listed for each in part.files()):
                            if found.path.name == notebook.name:
                                try:
                                    taken.append(self.read(found))
                                except RefusedDownloadError:
                                    continue
        finally:
            stop.set()
            attack.join()
        assert set(taken) <= {a_notebook("eve")}


def test_name_from_outside_is_no_path(tmp_path):
    (tmp_path / "inner").mkdir()
    with opened.opened_folder(tmp_path / "inner") as folder:
        for name in ("..", ".", "", "../inner", "/etc"):
            with pytest.raises(RefusedDownloadError, match="no name of a file"), folder.file(name):
                pytest.fail("opened")


@pytest.mark.slow
def test_many_files_are_read_with_few_open(tmp_path):
    for number in range(300):
        put(tmp_path / f"student-{number}" / "a" / "b" / f"{NAME}.ipynb", a_notebook("x"))
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from course_grader.lms.downloads import parts\n"
        "from course_grader.lms.entries import Allowance, chunks\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\n"
        "with parts(Path(sys.argv[1])) as listed:\n"
        "    found = [each for part in listed for each in part.files()]\n"
        "    print(sum(1 for each in found if list(chunks(each, Allowance()))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "300"
