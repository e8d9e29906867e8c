"""A machine without corpora, and a server on 127.0.0.1 that answers as a test says."""

import dataclasses
import hashlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from course_lib.data import corpora

Content = bytes | dict[str, Any]
Answer = Content | Callable[[BaseHTTPRequestHandler], Content | None]


class Server(ThreadingHTTPServer):
    """Gives the answers of a list in turn, then the last one for ever; counts the requests.

    An answer is the content, or a dict with ``content``, ``promised`` (a Content-Length; if it is
    larger, the answer breaks off) and ``status``, or a function of the request handler that
    returns one of these, or None if it has answered itself or never will.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = []
        self.requests = 0
        self.closing = threading.Event()
        self.turn = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/corpus.txt"

    def handle_error(self, request, client_address) -> None:  # a client that leaves is no error
        pass


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        with self.server.turn:
            self.server.requests += 1
            answer = (
                self.server.answers[0]
                if len(self.server.answers) == 1
                else self.server.answers.pop(0)
            )
        if callable(answer):
            answer = answer(self)
        if answer is None:
            return
        reply = answer if isinstance(answer, dict) else {"content": answer}
        self.send_response(reply.get("status", 200))
        self.send_header("Content-Length", str(reply.get("promised", len(reply["content"]))))
        self.end_headers()
        self.wfile.write(reply["content"])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def closed_port() -> str:
    """An address at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return f"http://127.0.0.1:{port}/corpus.txt"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without corpora, proxies and network: only 127.0.0.1 answers. Its cache."""
    for variable in list(os.environ):
        if variable.lower() in {"http_proxy", "https_proxy", "all_proxy", "course_data"}:
            monkeypatch.delenv(variable)
    folder = tmp_path / "cache"
    monkeypatch.setenv("COURSE_CACHE", str(folder))
    connect = socket.socket.connect

    def connect_here_only(self: socket.socket, address: object) -> None:
        if self.family != socket.AF_UNIX and address[0] != "127.0.0.1":  # type: ignore[index]
            raise AssertionError(f"the test left this machine: {address}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", connect_here_only)
    return folder


@pytest.fixture
def publish(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make small texts the corpora, and a server or an address the place that has them."""

    def at(place: Server | str, **contents: bytes) -> None:
        if isinstance(place, Server):
            place.answers = list(contents.values())[:1]
        small = {
            name: dataclasses.replace(
                corpora.SOURCES[name],
                url=place.url if isinstance(place, Server) else place,
                sha256=hashlib.sha256(content).hexdigest(),
                size=len(content),
            )
            for name, content in contents.items()
        }
        monkeypatch.setattr(corpora, "SOURCES", small)

    return at
