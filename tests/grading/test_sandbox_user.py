"""A sandbox runs as a user who owns nothing and cannot become root, whoever started it."""

import contextlib
import ctypes
import errno
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from walled_runs import LIMITS

import course_lib
from course_grader.sandbox import bubblewrap, unprivileged
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
    assert starter["Uid"] == seen["Uid"]
    if os.geteuid() == 0:
        assert int(seen["Uid"][0]) in range(61184, 65520)
        assert starter["Groups"] == []
        assert int(starter["CapBnd"][0], 16) == 0


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


# Shows an environment that only root may read to another user, in mounts of this process alone.
SHOW = """
set -e
stage=$(mktemp -d)
mount -t tmpfs tmpfs "$stage"
number=0
for place in $PLACES; do
    mkdir "$stage/$number"; mount --rbind "$place" "$stage/$number"; number=$((number + 1))
done
for folder in $HIDDEN; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
number=0
for place in $PLACES; do
    mkdir -p "$place"; mount --rbind "$stage/$number" "$place"; number=$((number + 1))
done
umount -l "$stage"; rmdir "$stage"
exec setpriv --reuid 61000 --regid 61000 --clear-groups --inh-caps=-all "$@"
"""


@as_root
@pytest.mark.parametrize("form", ["warm", "cold"])
def test_ordinary_user_has_every_wall_too(form):
    course = Path(course_lib.__file__).parents[1]
    places = {Path(each).resolve() for each in (sys.prefix, sys.base_prefix, course)}
    hidden = {
        above for place in places for above in place.parents if above.stat().st_mode & 0o5 != 0o5
    }
    covered = {place for place in places if any(place.is_relative_to(each) for each in hidden)}
    program = (
        "import os; from pathlib import Path\n"
        "from course_grader.sandbox import selftest\n"
        "from course_grader.sandbox.sandbox import Sandbox\n"
        f"with Sandbox('{form}') as one: walls = selftest.prove(one, Path.home())\n"
        "print(os.getuid(), [wall for wall in walls if not wall.holds])\n"
    )
    with tempfile.TemporaryDirectory(dir="/var/tmp") as home:
        os.chown(home, 61000, 61000)
        done = subprocess.run(
            [
                *("unshare", "--mount", "sh", "-c", SHOW, "sh"),
                *("env", f"HOME={home}", f"TMPDIR={home}", f"PYTHONPATH={course}"),
                *(sys.executable, "-c", program),
            ],
            cwd="/",
            env=os.environ
            | {
                "PLACES": " ".join(map(str, sorted(covered))),
                "HIDDEN": " ".join(map(str, sorted(hidden))),
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout.strip() == "61000 []", done.stderr
