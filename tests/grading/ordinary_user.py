"""Programs that run as an ordinary user, where the tests themselves run as root.

The user is only there for such a program: in mounts of its own, `/etc/passwd` names one, and the
environment of the tests lies where that user may read it.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import course_lib

NUMBER, NAME = 61000, "course-student"
LENT = range(2_000_000, 2_065_536)

# Shows an environment that only root may read to another user, in mounts of this process alone.
_SHOW = """
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
for file in passwd subuid subgid; do
    if [ -e "$SETTINGS/$file" ]; then
        [ -e "/etc/$file" ] || continue
        mount --bind "$SETTINGS/$file" "/etc/$file"
    fi
done
exec setpriv --reuid "$NUMBER" --regid "$NUMBER" --clear-groups --inh-caps=-all "$@"
"""


def python(program, *, lent=False, paths=(), **options):
    """Run a program of Python as a user to whom the system lends a range of users, or none."""
    course = Path(course_lib.__file__).parents[1]
    places = {Path(each).resolve() for each in (sys.prefix, sys.base_prefix, course)}
    hidden = {
        above for place in places for above in place.parents if above.stat().st_mode & 0o5 != 0o5
    }
    covered = {place for place in places if any(place.is_relative_to(each) for each in hidden)}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as home:
        settings = Path(home) / "settings"
        settings.mkdir()
        known = Path("/etc/passwd").read_text(encoding="utf-8")
        entry = f"{NAME}:x:{NUMBER}:{NUMBER}::{home}:/bin/sh\n"
        (settings / "passwd").write_text(known + entry, encoding="utf-8")
        words = f"{NAME}:{LENT.start}:{len(LENT)}\n" if lent else ""
        for file in ("subuid", "subgid"):
            (settings / file).write_text(words, encoding="utf-8")
        os.chown(home, NUMBER, NUMBER)
        return subprocess.run(
            [
                *("unshare", "--mount", "sh", "-c", _SHOW, "sh"),
                *("env", f"HOME={home}", f"TMPDIR={home}"),
                f"PYTHONPATH={os.pathsep.join(map(str, (course, *paths)))}",
                *(sys.executable, "-c", program),
            ],
            cwd="/",
            env=os.environ
            | {
                "PLACES": " ".join(map(str, sorted(covered))),
                "HIDDEN": " ".join(map(str, sorted(hidden))),
                "SETTINGS": str(settings),
                "NUMBER": str(NUMBER),
            },
            capture_output=True,
            text=True,
            check=False,
            **options,
        )
