"""Serves a built site on this machine: on the port that was wished for, or the next free one."""

from __future__ import annotations

import http.server
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

PORTS_TRIED = 20
"""How many ports are tried, from the wished one on, before giving up."""


class NoFreePortError(CourseError, OSError):
    """No port near the wished one is free to serve the book on."""


def serve(site: str | Path, port: int = 8000, *, announce: bool = True) -> None:
    """Serve a built site on http://localhost until interrupted.

    Parameters
    ----------
    site : path
        A folder with `index.html`, as `build` returns it.
    port : int
        The port wished for; if it is taken, the next free one is used, and said.
    announce : bool
        Print where the site is.

    Raises
    ------
    NoFreePortError
        If none of the next `PORTS_TRIED` ports is free.
    """
    chosen = free_port(port)
    if announce and chosen != port:
        print(f"Port {port} is in use by another program; taking {chosen} instead.")
    with server(site, chosen) as running:
        if announce:
            print(f"The book is at http://localhost:{chosen} (stop with Ctrl-C)", flush=True)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            if announce:
                print("\nStopped.")


def server(site: str | Path, port: int = 0) -> http.server.ThreadingHTTPServer:
    """A quiet server of one folder on this machine alone; port 0 lets the system choose."""
    handler = partial(_Pages, directory=str(site))
    return _Server(("127.0.0.1", port), handler)


def free_port(wished: int) -> int:
    """The first port from `wished` on that no program listens on.

    Raises
    ------
    NoFreePortError
        If `PORTS_TRIED` ports in a row are taken, or the number is not a port.
    """
    if not 1 <= wished <= 65535:
        raise NoFreePortError(
            f"{wished} is not a port: give one between 1024 and 65535, as in PORT=8000"
        )
    tried = range(wished, min(wished + PORTS_TRIED, 65536))
    for port in tried:
        if not _answers(port) and _can_bind(port):
            return port
    raise NoFreePortError(
        f"ports {tried[0]} to {tried[-1]} are all in use (or need more rights): "
        "choose another, as in `make book PORT=9000`"
    )


class _Server(http.server.ThreadingHTTPServer):
    """Says nothing of a reader who leaves before a file is sent, as one who stops Python does."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Pages(http.server.SimpleHTTPRequestHandler):
    """Files as they are now: a page that was rebuilt is never shown from a browser's cache."""

    extensions_map = {  # noqa: RUF012  (the class attribute that http.server reads)
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",  # some systems' registries say text/plain
        ".ipynb": "application/x-ipynb+json",
    }

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a line for each picture hides the one line that matters."""


def _answers(port: int) -> bool:
    """Whether a program answers on localhost, by either of the addresses that a browser tries."""
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.settimeout(0.5)
                if probe.connect_ex((address, port)) == 0:
                    return True
        except OSError:  # this machine has no such address family
            continue
    return False


def _can_bind(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
