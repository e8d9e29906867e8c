"""A sandbox runs as a user who owns nothing and cannot become root, whoever started it."""

import contextlib
import ctypes
import errno
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import ordinary_user
import pytest
import sandboxed_runs
from walled_runs import LIMITS

import course_lib
from course_grader.sandbox import bubblewrap, unprivileged, user_range
from course_grader.sandbox.sandbox import Sandbox
from course_grader.sandbox.sanitize import SanitizedSubmission, Step

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has something to give up")


@contextlib.contextmanager
def sleeping(sandbox):
    """The status of a process of a submission, from the kernel, while it runs."""
    mark = f"19.{int.from_bytes(os.urandom(5), 'big')}"
    work = SanitizedSubmission(
        (Step("code", f"import subprocess; subprocess.run(['sleep', '{mark}'])"),)
    )
    run = threading.Thread(target=sandbox.run, args=(work, {}, LIMITS))
    run.start()
    number = 0
    try:
        while run.is_alive() and not number:
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    if path.read_bytes() == f"sleep\0{mark}\0".encode():
                        number = int(path.parent.name)
            time.sleep(0.01)
        assert number, "no process of the submission was seen"
        yield number
    finally:
        if number:
            os.kill(number, 9)
        run.join()


def status(number):
    lines = Path(f"/proc/{number}/status").read_text(encoding="utf-8").splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


def test_submission_is_no_root_outside_and_cannot_become_it(sandbox):
    with sleeping(sandbox) as number:
        seen = status(number)
        starter = status(_ancestor(number, "bwrap"))
    assert "0" not in seen["Uid"] + seen["Gid"] + seen["Groups"]
    assert (seen["NoNewPrivs"], seen["Seccomp"]) == (["1"], ["2"])
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(seen[kind][0], 16) == 0, kind
    assert (starter["Uid"] == seen["Uid"]) is not sandbox.own_users
    if os.geteuid() == 0:
        assert int(seen["Uid"][0]) in range(61184, 65520)
        assert int(starter["Uid"][0]) in range(61184, 65520)
        assert starter["Groups"] == []
        assert int(starter["CapPrm"][0], 16) == int(starter["CapEff"][0], 16) == 0


def _ancestor(number, name):
    """The outermost process of that name above one."""
    found = 0
    while number > 1:
        lines = status(number)
        if lines["Name"] == [name]:
            found = number
        number = int(lines["PPid"][0])
    assert found, f"nothing named {name} is above"
    return found


@as_root
def test_two_sandboxes_of_root_are_two_users():
    numbers = {unprivileged.free_number("uid_map", unprivileged.users_here()) for _ in range(20)}
    assert len(numbers) > 10
    assert numbers <= set(range(61184, 65520))


@pytest.mark.parametrize(
    ("mapped", "taken", "expected"),
    [
        ([range(0, 2**32 - 1)], set(range(61184, 65519)), 65519),
        ([range(0, 1), range(1, 65536)], set(range(61184, 65536)), 61183),
        ([range(0, 1), range(100, 102)], {101}, 100),
        ([range(0, 5)], {1, 2, 4}, 3),
    ],
    ids=["one is left", "the range is taken", "rootless", "few"],
)
def test_user_belongs_to_nobody_and_exists_in_the_namespace(mapped, taken, expected):
    assert unprivileged.choose(mapped, taken) == expected


@pytest.mark.parametrize("mapped", [[range(0, 1)], [range(0, 3)]], ids=["only root", "all taken"])
def test_root_that_is_alone_is_told_what_to_do(mapped):
    with pytest.raises(unprivileged.StillRootError, match=r"subuid.*ordinary user"):
        unprivileged.choose(mapped, {1, 2})


@as_root
class TestRoot:
    """In namespaces of their own, where root is as poor as it can be."""

    def start(self, *wrapped):
        """What a sandbox says that is started in such surroundings, or nothing."""
        program = (
            "from course_grader.sandbox.sandbox import Sandbox\n"
            "with Sandbox('warm'): print('started')"
        )
        done = subprocess.run(
            [*wrapped, sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(course_lib.__file__).parents[1])},
        )
        return done.stdout + done.stderr

    def test_alone_in_its_user_namespace_is_refused_with_the_remedy(self):
        said = self.start("unshare", "--user", "--map-root-user")
        assert "has no user but root" in said
        assert "subuid" in said

    def test_that_may_not_change_its_user_is_refused_with_the_remedy(self):
        said = self.start("setpriv", "--bounding-set", "-setuid,-setgid")
        assert "SETUID and SETGID" in said

    def test_that_may_not_mount_starts_what_everybody_can_read_and_names_what_not(self):
        said = self.start("setpriv", "--bounding-set", "-sys_admin")
        readable = all(
            path.stat().st_mode & 0o5 == 0o5
            for prefix in (sys.prefix, sys.base_prefix)
            for path in (Path(prefix).resolve(), *Path(prefix).resolve().parents)
        )
        assert "started" in said if readable else "is out of reach for anybody but root" in said

    @pytest.mark.parametrize("mode", [0o600, 0o644])
    def test_file_that_nobody_else_can_read_is_named(self, mode):
        with tempfile.NamedTemporaryFile() as library:
            os.fchmod(library.fileno(), mode)
            command = ["/bin/true", "--ro-bind", library.name, "/library.so"]
            child = os.fork()
            if child == 0:
                os.setuid(65_534)
                try:
                    unprivileged._check_reach(command, command)
                except unprivileged.StillRootError as said:
                    os._exit(1 if f"{library.name} is out of reach" in str(said) else 2)
                os._exit(0)
            _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == (mode == 0o600)

    def test_that_is_forbidden_to_mount_by_its_container_leaves_sources_where_they_are(self):
        class Forbidding:
            def unshare(self, flags):
                return 0

            def mount(self, *given):
                ctypes.set_errno(errno.EACCES)
                return -1

        given = ["--ro-bind", "/usr", "/usr", "--", "python"]
        assert unprivileged.stage(Forbidding(), given) == given

    @pytest.mark.parametrize("mask", ["022", "077"])
    def test_starts_whatever_rights_root_gives_to_new_files(self, mask):
        assert self.start("sh", "-c", f'umask {mask}; exec "$@"', "sh") == "started\n"

    def test_nothing_of_the_stage_is_seen_outside(self):
        with Sandbox("warm") as sandbox:
            outside = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
            inside = Path(f"/proc/{sandbox.started.number}/ns/mnt").readlink()
            assert inside != Path("/proc/self/ns/mnt").readlink()
        assert not re.search(r" /tmp/\d+ ", outside)


def test_copied_code_can_be_read_by_whoever_the_sandbox_runs_as(tmp_path):
    target = tmp_path / "copy"
    target.mkdir(mode=0o700)
    kept = os.umask(0o077)
    try:
        bubblewrap.copy_library(target)
    finally:
        os.umask(kept)
    for path in (target, *target.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644), path


@as_root
@pytest.mark.parametrize(
    ("form", "lent", "own"), [("warm", False, False), ("warm", True, True), ("cold", False, False)]
)
def test_ordinary_user_has_every_wall_too(form, lent, own):
    if lent and shutil.which("newuidmap") is None:
        pytest.skip("no newuidmap: sudo apt-get install uidmap")
    program = (
        "import os; from pathlib import Path\n"
        "from course_grader.sandbox import selftest\n"
        "from course_grader.sandbox.sandbox import Sandbox\n"
        f"with Sandbox('{form}') as one:\n"
        "    walls = selftest.prove(one, Path.home())\n"
        "    print(one.own_users)\n"
        "print(os.getuid(), [wall for wall in walls if not wall.holds])\n"
    )
    done = ordinary_user.python(program, lent=lent)
    assert done.stdout.split("\n")[:2] == [str(own), f"{ordinary_user.NUMBER} []"], done.stderr


class TestRange:
    """A user for each run: where the numbers come from, and what happens where there are none."""

    @pytest.mark.parametrize(
        ("ranges", "taken", "count", "possible"),
        [
            ([range(61184, 65520)], {61184, 65519}, 4334, {61185}),
            ([range(61184, 65520)], {62000}, 4000, set()),
            ([range(61184, 65520)], {61186}, 4333, {61187}),
            ([range(0, 3), range(100, 105)], set(), 4, {100, 101}),
            ([range(0, 3)], set(), 2, {1}),
            ([range(5, 5), range(9, 4)], set(), 1, set()),
            ([], set(), 1, set()),
        ],
        ids=["between", "none is long enough", "behind", "second", "never root", "empty", "none"],
    )
    def test_block_is_free_and_in_one_of_the_ranges(self, ranges, taken, count, possible):
        found = {user_range.free_block(ranges, taken, count) for _ in range(40)}
        assert found == (possible or {None})

    def test_line_of_the_system_lends_by_name_or_by_number_and_to_nobody_else(self, tmp_path):
        name = pwd.getpwuid(os.getuid()).pw_name
        file = tmp_path / "subuid"
        file.write_text(
            f"{name}:100000:65536\nsomebody-else:1:9\n{os.getuid()}:300000:10\n{name}:x:1\nodd\n"
        )
        assert user_range.lent(file) == [range(100000, 165536), range(300000, 300010)]
        assert user_range.lent(tmp_path / "none") == []

    def test_packages_that_only_their_owner_may_read_are_named(self, tmp_path):
        tmp_path.chmod(0o755)
        (tmp_path / "open").mkdir()
        assert user_range.out_of_reach([str(tmp_path), "/nowhere"]) == ""
        (tmp_path / "closed").mkdir(mode=0o700)
        assert user_range.out_of_reach([str(tmp_path)]) == str(tmp_path / "closed")

    @as_root
    @pytest.mark.parametrize(
        ("options", "may"),
        [
            (["--bounding-set", "-all,+setuid,+setgid"], True),
            (["--bounding-set", "-setuid"], False),
            (["--no-new-privs"], False),
        ],
    )
    def test_process_that_programs_may_map_for_is_told_from_one_that_they_may_not(
        self, options, may
    ):
        program = "from course_grader.sandbox import user_range; print(user_range.may_map())"
        said = subprocess.check_output(["setpriv", *options, sys.executable, "-c", program])
        assert said.decode() == f"{may}\n"

    @pytest.mark.parametrize("missing", ["programs", "rights", "range", "reach"])
    def test_ordinary_user_is_told_why_runs_are_one_user_and_what_to_do(
        self, missing, tmp_path, monkeypatch
    ):
        name = pwd.getpwuid(os.getuid()).pw_name
        lent = tmp_path / "lent"
        lent.write_text(f"{name}:100000:{100 if missing == 'range' else 65536}\n")
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        monkeypatch.setattr(user_range, "LENT", dict.fromkeys(user_range.LENT, lent))
        found = None if missing == "programs" else "/usr/bin/newuidmap"
        monkeypatch.setattr(user_range.shutil, "which", lambda *given, **more: found)
        closed = "/opt/closed" if missing == "reach" else ""
        monkeypatch.setattr(user_range, "out_of_reach", lambda: closed)
        monkeypatch.setattr(user_range, "may_map", lambda: missing != "rights")
        words = {
            "rights": "--cap-add SETUID",
            "programs": "install uidmap",
            "range": "--add-subuids",
            "reach": "go+rX /opt/clos",
        }
        assert words[missing] in user_range.problem()
        assert user_range.find() is None

    def test_range_that_the_kernel_refuses_leaves_runs_one_user_and_says_so(
        self, monkeypatch, caplog
    ):
        monkeypatch.setattr(user_range, "find", lambda: "0,4294967290,512:0,4294967290,512")
        with Sandbox("warm") as sandbox:
            assert not sandbox.own_users
            assert sandboxed_runs.printed(sandboxed_runs.run(sandbox, "print(6 * 7)")) == "42\n"
        assert "no users of their own" in caplog.text

    @as_root
    def test_runs_of_two_sandboxes_are_different_users(self):
        with Sandbox("warm") as one, Sandbox("warm") as other:
            seen = set()
            for sandbox in (one, one, other, other):
                with sleeping(sandbox) as number:
                    seen.add(status(number)["Uid"][0])
        assert len(seen) == 4
