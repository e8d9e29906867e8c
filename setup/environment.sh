#!/bin/sh
# Makes .venv ready: finds a Python, creates the environment, installs what is missing.
#
#   setup/environment.sh book    what reading the book needs: no torch, no nbgrader
#   setup/environment.sh lab     what working on the exercises needs
#   setup/environment.sh tests   everything, in the versions of requirements-lock.txt
#
# uv installs, which takes a third of pip's time: the one on the PATH, otherwise one that pip brings
# into .venv. Where that fails, pip does it alone. On Linux without a GPU's driver, `lab` takes PyTorch
# without its GPU libraries where that is to be had; TORCH=cpu insists on it, and TORCH=gpu takes them
# anyway. LOCK=0 takes the newest versions that the ranges allow. Locked files are compared with the
# hashes of requirements-lock.txt.
#
# A stamp in .venv records the folder, the interpreter and the lists that were installed. It is
# written last, so an interrupted run is taken up again; while it matches, there is nothing to do.
set -eu

cd "$(dirname "$0")/.."
. setup/apt.sh

suite=${1:-book}
stamp=.venv/.installed-$suite

say() { printf '%s\n' "$*" >&2; }

# The lines of requirements.txt below one of its headings.
section() { awk -v title="## $1" 'index($0, "## ") == 1 { on = index($0, title) == 1 } on' requirements.txt; }

case $suite in
    book) what="what the book needs"; size="300 MB" ;;
    lab) what="what the exercises need"; size="1.2 GB" ;;
    tests) what="everything"; size="2.4 GB" ;;
    *) say "setup/environment.sh takes book, lab or tests, not $suite"; exit 2 ;;
esac

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
    echo "${TORCH:-} ${LOCK:-}"
    if [ "$suite" = book ]; then
        section "To read" | cksum
    else
        cksum requirements*.txt pyproject.toml
    fi
}

works() {
    [ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1 &&
        [ "$(.venv/bin/python -c 'import sys; print(sys.version_info >= (3, 11))')" = True ] &&
        head -n 1 .venv/bin/pip | grep -qF "$(pwd)/.venv/bin/"
}

holds() { [ -f ".venv/.installed-$1" ] && [ "$(suite=$1 state 2>/dev/null)" = "$(cat ".venv/.installed-$1")" ]; }

if [ -x .venv/bin/python ] && holds "$suite"; then
    exit 0
fi
# Everything is there for whoever needs less.
if [ -x .venv/bin/python ] && [ "$suite" != tests ] && holds tests; then
    exit 0
fi

volume="--quiet --progress-bar off"
uv_volume=--quiet
if [ -t 1 ]; then volume=; uv_volume=; fi  # somebody is watching: show what comes
pip_install="install --disable-pip-version-check --no-input --no-compile $volume"

with_pip() {
    # shellcheck disable=SC2086  # lists of words on purpose
    .venv/bin/python -m pip $pip_install "$@"
}

# Put pip into an empty .venv, and uv where there is none. A pip outside it, or uv, does that in a
# second; ensurepip, the way of `python -m venv`, takes three.
seed() {
    if command -v uv >/dev/null 2>&1; then
        uv pip install --quiet --python .venv/bin/python pip
    else
        # shellcheck disable=SC2086
        "$python" -m pip --python .venv/bin/python $pip_install --retries 1 --only-binary :all: pip uv
    fi
}

if ! works; then
    if [ -e .venv ] || [ -L .venv ]; then
        say "The environment .venv is incomplete or was made in another folder; making a new one."
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
    "$python" -m venv --without-pip .venv
    if ! seed 2>/dev/null; then
        say "Neither uv nor a pip outside .venv could put pip into it; the one that comes with Python goes in first ..."
        .venv/bin/python -I -m ensurepip --upgrade --default-pip >/dev/null
    fi
fi

# Find uv, or let pip bring it, and tell that one what pip is told of mirrors and certificates. A uv
# that was there before has settings of its own.
find_uv() {
    uv=$(command -v uv) && return
    uv=.venv/bin/uv
    [ -x "$uv" ] || with_pip --retries 1 --only-binary :all: uv || return 1
    settings=$(.venv/bin/python setup/pip_settings.py) || return 1
    eval "$settings"
}

with_uv() {
    no_index=
    find_uv || return 1
    # shellcheck disable=SC2086
    "$uv" pip install --python .venv/bin/python $uv_volume $no_index $backend "$@"
}

has_gpu_driver() {
    [ -e /proc/driver/nvidia ] || [ -e /dev/kfd ] || command -v nvidia-smi >/dev/null 2>&1
}

# The PyTorch that uv would install, in its words ("+ torch==2.9.1+cpu"); nothing if one is there.
would_take() {
    # shellcheck disable=SC2086
    UV_HTTP_TIMEOUT=15 "$uv" pip install --dry-run --no-deps --python .venv/bin/python $no_index "$@" "torch>=2.9,<3" 2>&1
}

# Choose between the builds of PyTorch before anything is installed, so that it can be said which one
# comes and how large it is: on Linux its GPU libraries are four fifths of all that is installed.
choose_torch() {
    backend=
    if [ "${TORCH:-}" = cpu ]; then backend=--torch-backend=cpu; return; fi
    if [ "$suite" != lab ] || [ "$(uname -s)" != Linux ]; then return; fi
    with_gpu="5.9 GB, because PyTorch brings its GPU libraries"
    if [ -n "${TORCH:-}" ] || has_gpu_driver; then size=$with_gpu; return; fi
    no_index=
    find_uv || { size=$with_gpu; return; }
    case $(would_take) in
        *+cpu* | *"no changes"*) return ;;  # it comes without them as it is, or has come already
    esac
    if would_take --torch-backend=cpu | grep -q 'torch=='; then
        backend=--torch-backend=cpu
        say "There is no driver of a GPU here, so PyTorch comes without its GPU libraries; TORCH=gpu brings them."
    else
        size=$with_gpu
        say "There is no driver of a GPU here, but PyTorch without its GPU libraries is out of reach: its address, https://download.pytorch.org/whl/cpu, does not answer. The build with them does as well."
    fi
}

# pip compares hashes of all that it installs or of nothing, and the course in its folder has none, nor
# has PyTorch. So what has hashes goes in first, from a list of its own, and then keeps its version.
install_hashed() {
    awk '/^[^ #].*\\$/ { on = 1 } on; !/\\$/ { on = 0 }' requirements-lock.txt >.venv/hashed.txt
    awk '/^[^ #]/ { print $1 }' requirements-lock.txt >.venv/versions.txt
    with_pip --require-hashes --no-deps -r .venv/hashed.txt
}

# Install what is named: the quick way in the versions $quick, the plain way in the versions $plain.
install() {
    # shellcheck disable=SC2086
    with_uv $quick "$@" && return
    if [ "${TORCH:-}" = cpu ]; then
        say "uv did not succeed, and pip alone does not know where PyTorch without its GPU libraries is."
        return 1
    fi
    say "The quick way, with uv, did not work here. Trying pip alone$newest, which takes longer ..."
    [ -z "$plain" ] || install_hashed || return 1
    # shellcheck disable=SC2086
    with_pip $plain "$@"
}

quick=
plain=
newest=
choose_torch
say "Installing $what into .venv (about $size; minutes the first time) ..."
{
    case $suite in
        book)
            section "To read" >.venv/reading.txt
            # The versions that the book was tested with, as finished packages. Where one is
            # missing for a platform or a later Python, a reader gets the newest of everything.
            if [ "${LOCK:-1}" != 0 ]; then
                quick="-c requirements-lock.txt --only-binary :all:"
                newest=" and the newest versions that requirements.txt allows"
            fi
            install -r .venv/reading.txt
            ;;
        lab) install -e . ;;
        tests)
            if [ "${LOCK:-1}" != 0 ]; then
                quick="-c requirements-lock.txt"
                # A test of other versions would be a test of something else.
                plain="-c .venv/versions.txt"
            fi
            install -r requirements.txt -r requirements-test.txt -e .
            ;;
    esac
} || {
    say "The installation stopped before all was there; its last lines say why. The next run goes on from here."
    exit 1
}
# Compiled by all cores, where pip would use one. Some packages carry files for other Pythons, which
# cannot be compiled and are never imported. Building the book imports a fraction of what is
# installed for it, which Python compiles then.
[ "$suite" = book ] || .venv/bin/python -m compileall -qq -j 0 .venv/lib || true
state >"$stamp.new"
mv "$stamp.new" "$stamp"
