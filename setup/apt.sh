# Sourced, not run: installs Debian packages where that needs nobody's password.

# "sudo apt-get install X", or "apt-get install X" for root.
install_command() {
    if [ "$(id -u)" = 0 ]; then echo "apt-get install -y $*"; else echo "sudo apt-get install -y $*"; fi
}

# Install packages if this is Debian or a relative and we may; otherwise return 1 and print nothing.
install_packages() {
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root=sudo
    else
        return 1
    fi
    echo "Installing $* with apt-get ..." >&2
    apt_get() {
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null >&2
    }
    apt_get install -y --no-install-recommends "$@" 2>/dev/null && return 0
    apt_get update && apt_get install -y --no-install-recommends "$@"
}
