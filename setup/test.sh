#!/bin/sh
# Runs the tests, with one summary. Words given to it go to pytest: setup/test.sh -k play
# WORKERS=4 runs four tests at a time, where four cores are idle; two by default.
#
# Chromium, bubblewrap, uidmap and PostgreSQL are not Python packages: they are installed through apt
# where that needs no password. What cannot be had is named before and after the tests, with the command that gets it.
set -eu

cd "$(dirname "$0")/.."
sh setup/environment.sh tests
. setup/apt.sh
PATH="$(pwd)/.venv/bin:$PATH"  # nbgrader calls programs of its environment by name
export PATH
# Hundreds of processes import the same modules: they are compiled once, even where an image that
# this runs in says that nothing is to be kept.
unset PYTHONDONTWRITEBYTECODE

missing=
note() { missing="$missing
  $1"; }

# Chromium without windows opens a page in a third of the time that a whole one takes. Tests need no
# more; whoever has only the whole one loses nothing but time.
prefer_headless_shell() {
    if [ -z "${CHROMIUM:-}" ] && command -v chromium-headless-shell >/dev/null 2>&1; then
        CHROMIUM=$(command -v chromium-headless-shell)
        export CHROMIUM
    fi
}
find_chromium() { prefer_headless_shell; .venv/bin/python -m setup.chromium >/dev/null 2>&1; }
find_bubblewrap() { command -v bwrap >/dev/null 2>&1; }
find_postgresql() {  # Debian keeps its server's programs out of PATH; each test starts its own
    command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

if ! find_chromium; then
    install_packages chromium chromium-headless-shell >/dev/null ||
        install_packages chromium >/dev/null || true
    if ! find_chromium; then
        case $(uname -s) in
            Darwin) remedy="brew install --cask chromium" ;;
            *) remedy="$(install_command chromium), or .venv/bin/playwright install --with-deps chromium" ;;
        esac
        note "the tests in a browser (no Chromium): $remedy"
    fi
fi
if ! find_bubblewrap && [ "$(uname -s)" = Linux ]; then
    install_packages bubblewrap >/dev/null || true
fi
if ! find_bubblewrap; then
    case $(uname -s) in
        Linux) note "the tests of the sandbox (no bubblewrap): $(install_command bubblewrap)" ;;
        *) note "the tests of the sandbox (bubblewrap needs Linux)" ;;
    esac
elif ! bwrap --ro-bind / / --unshare-all true 2>/dev/null; then
    note "the tests of the sandbox (bubblewrap is here, but this system does not let it make namespaces)"
fi

# Lends each run a user of its own where no root grades.
if ! command -v newuidmap >/dev/null 2>&1 && [ "$(uname -s)" = Linux ]; then
    install_packages uidmap >/dev/null || true
    command -v newuidmap >/dev/null 2>&1 ||
        note "the tests of users that an ordinary user is lent (no newuidmap): $(install_command uidmap)"
fi

if ! find_postgresql; then
    install_packages postgresql >/dev/null || true
fi
if ! find_postgresql; then
    case $(uname -s) in
        Darwin) remedy="brew install postgresql" ;;
        *) remedy=$(install_command postgresql) ;;
    esac
    note "the tests of a gradebook in PostgreSQL (no PostgreSQL): $remedy"
fi

say_missing() { [ -z "$missing" ] || printf '\nSkipped on this machine:%s\n' "$missing"; }
say_missing

status=0
.venv/bin/python -m pytest -n "${WORKERS:-2}" --dist worksteal "$@" </dev/null || status=$?
say_missing
exit $status
