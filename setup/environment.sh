#!/bin/sh
# Makes .venv ready: finds a Python, creates the environment, installs what is missing.
#
#   setup/environment.sh         what the book and the exercises need
#   setup/environment.sh tests   that, and what the tests need
#
# A stamp in .venv records the folder, the interpreter and the lists that were installed. It is
# written last, so an interrupted run is taken up again; while it matches, there is nothing to do.
set -eu

cd "$(dirname "$0")/.."
. setup/apt.sh

suite=${1:-book}
stamp=.venv/.installed-$suite
lists="-r requirements.txt"
files="requirements.txt pyproject.toml"
if [ "$suite" = tests ]; then
    for part in test cluster jax; do
        lists="$lists -r requirements-$part.txt"
        files="$files requirements-$part.txt"
    done
fi

say() { printf '%s\n' "$*" >&2; }

recent_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        recent_enough "$PYTHON" && echo "$PYTHON"
        return
    fi
    for name in python3 python3.13 python3.12 python3.11 python3.14 python; do
        if command -v "$name" >/dev/null 2>&1 && recent_enough "$name"; then
            command -v "$name"
            return
        fi
    done
}

no_python() {
    if [ -n "${PYTHON:-}" ]; then
        say "PYTHON=$PYTHON is not a Python 3.11 or newer."
    elif command -v python3 >/dev/null 2>&1; then
        say "The course needs Python 3.11 or newer; python3 here is $(python3 --version 2>&1)."
    else
        say "The course needs Python 3.11 or newer; there is no python3 here."
    fi
    if [ "$(uname -s)" = Darwin ]; then
        say "Install one:   brew install python@3.12"
    elif command -v apt-get >/dev/null 2>&1; then
        say "Install one:   sudo apt-get install python3.11 python3.11-venv"
    fi
    say "or name one:   make book PYTHON=/path/to/python3.12"
    exit 1
}

# What must be true for the stamp to hold. The first line notices a folder that was moved or copied:
# the programs in .venv/bin name their interpreter by its full path.
state() {
    pwd
    .venv/bin/python -c 'import sys; print(sys.version)'
    cksum $files
}

works() {
    [ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1 &&
        [ "$(.venv/bin/python -c 'import sys; print(sys.version_info >= (3, 11))')" = True ] &&
        head -n 1 .venv/bin/pip | grep -qF "$(pwd)/.venv/bin/"
}

if [ -x .venv/bin/python ] && [ -f "$stamp" ] && [ "$(state 2>/dev/null)" = "$(cat "$stamp")" ]; then
    exit 0
fi

if ! works; then
    if [ -e .venv ] || [ -L .venv ]; then
        say "The environment .venv is incomplete or was made in another folder; making it anew."
        rm -rf .venv
    fi
    python=$(find_python)
    if [ -z "$python" ] && [ -z "${PYTHON:-}" ] && install_packages python3 python3-venv; then
        python=$(find_python)
    fi
    [ -n "$python" ] || no_python
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        package=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv
        if ! install_packages "$package"; then
            say "$python cannot create environments: its venv module is not installed."
            say "Install it:   $(install_command "$package")"
            exit 1
        fi
    fi
    say "Creating .venv with $("$python" --version) ($python) ..."
    "$python" -m venv .venv
fi

volume="--quiet --progress-bar off"
if [ -t 1 ]; then volume=; fi  # somebody is watching: show what comes

say "Installing what the course needs into .venv (about 1.5 GB; minutes the first time) ..."
# shellcheck disable=SC2086  # lists of words on purpose
.venv/bin/python -m pip install --disable-pip-version-check --no-input --no-compile $volume $lists -e . || {
    say "pip stopped before all was installed; its last lines say why. The next run goes on from here."
    exit 1
}
# Compiled by all cores, where pip would use one. Some packages carry files for other Pythons, which
# cannot be compiled and are never imported.
.venv/bin/python -m compileall -qq -j 0 .venv/lib || true
state >"$stamp.new"
mv "$stamp.new" "$stamp"
