"""Promises of fetching: the cache holds the right file or none, whatever the network does."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import filelock
import pytest

from course_lib.data import cache_folder, fetching, load
from course_lib.errors import CacheNotWritableError, CorpusUnavailableError

SHAKESPEARE = ("To be, or not to be, that is the question:\n" * 20).encode()
NAMES = "\n".join(["emma", "olivia", "ava", "mia", "emma", "leo", "noah", "ava"] * 5).encode()


def cached(cache: Path) -> bytes | None:
    path = cache / "shakespeare.txt"
    return path.read_bytes() if path.exists() else None


def left_behind(cache: Path) -> set[str]:
    """Files in the cache that are neither a corpus nor its lock."""
    known = {"shakespeare.txt", "shakespeare.txt.lock"}
    return {path.name for path in cache.iterdir()} - known


def why_not() -> str:
    with pytest.raises(CorpusUnavailableError) as caught:
        load("shakespeare", fallback=False)
    return str(caught.value)


# A server that answers


def test_fetched_once_then_read_from_the_cache_without_a_request(server, publish, cache, capfd):
    publish(server, shakespeare=SHAKESPEARE)
    assert load("shakespeare").text == SHAKESPEARE.decode()
    assert server.requests == 1
    assert cached(cache) == SHAKESPEARE
    assert left_behind(cache) == set()
    capfd.readouterr()
    assert load("shakespeare").text == SHAKESPEARE.decode()
    assert server.requests == 1
    assert capfd.readouterr() == ("", "")


def test_progress_is_shown_on_stdout_and_nothing_on_stderr(server, publish, capfd):
    publish(server, shakespeare=SHAKESPEARE)
    load("shakespeare")
    out, err = capfd.readouterr()
    assert "Tiny Shakespeare from 127.0.0.1" in out
    assert err == ""


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param({"content": SHAKESPEARE[:400], "promised": len(SHAKESPEARE)}, id="broken off"),
        pytest.param(SHAKESPEARE[:400], id="truncated"),
        pytest.param(SHAKESPEARE.replace(b"be", b"bi"), id="altered"),
        pytest.param(b"<html>Log in first</html>" * 100, id="another page"),
        pytest.param(b"", id="empty"),
    ],
)
def test_spoilt_transfer_is_refused_and_repeated_once(bad, server, publish, cache):
    publish(server, shakespeare=SHAKESPEARE)
    server.answers = [bad, SHAKESPEARE]
    assert load("shakespeare").text == SHAKESPEARE.decode()
    assert server.requests == 2
    assert cached(cache) == SHAKESPEARE

    (cache / "shakespeare.txt").unlink()
    server.requests = 0
    server.answers = [bad]
    message = why_not()
    assert server.requests == 2
    assert message.count(server.url + ": ") == 2
    assert cached(cache) is None
    assert left_behind(cache) == set()


def test_each_kind_of_spoilt_transfer_is_described(server, publish):
    publish(server, shakespeare=SHAKESPEARE)
    for answer, words in [
        (
            {"content": SHAKESPEARE[:400], "promised": 860},
            "refused, it broke off before all 860 bytes had come",
        ),
        (SHAKESPEARE[:400], "refused, it is cut short or altered: 400 of 860 bytes"),
        (SHAKESPEARE.replace(b"be", b"bi"), "the SHA-256 digest is not"),
        (b"<html>" * 1000, "another or an altered file: it goes on beyond 860 bytes"),
    ]:
        server.answers = [answer]
        assert words in why_not()


@pytest.mark.parametrize("bad", [SHAKESPEARE[:400], SHAKESPEARE.replace(b"be", b"bi"), b"\xff"])
def test_damaged_file_in_the_cache_is_refused_and_replaced(bad, server, publish, cache, capfd):
    publish(server, shakespeare=SHAKESPEARE)
    cache.mkdir()
    (cache / "shakespeare.txt").write_bytes(bad)
    assert load("shakespeare").text == SHAKESPEARE.decode()
    assert server.requests == 1
    assert cached(cache) == SHAKESPEARE
    assert "NOTICE: a copy of Tiny Shakespeare was refused" in capfd.readouterr().out


def test_damaged_file_in_the_cache_is_not_used_even_without_a_network(publish, cache, closed_port):
    publish(closed_port, shakespeare=SHAKESPEARE)
    cache.mkdir()
    (cache / "shakespeare.txt").write_bytes(SHAKESPEARE[:400])
    message = why_not()
    assert "shakespeare.txt: refused, it is cut short or altered: 400 of 860 bytes" in message


@pytest.mark.parametrize("status", [404, 500])
def test_a_status_that_is_an_error_is_reported_and_not_repeated(status, server, publish, cache):
    publish(server, shakespeare=SHAKESPEARE)
    server.answers = [{"content": b"sorry", "status": status}]
    assert f"answered {status}" in why_not()
    assert server.requests == 1
    assert cached(cache) is None


def test_an_answer_that_is_not_http_is_reported(server, publish):
    def answer(handler):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: many\r\n\r\nabc")

    publish(server, shakespeare=SHAKESPEARE)
    server.answers = [answer]
    assert f"{server.url}: " in why_not()


# A server that does not


def test_server_that_never_answers_is_given_up_after_one_try(server, publish, monkeypatch):
    monkeypatch.setattr(fetching, "ANSWER_SECONDS", 0.3)
    publish(server, shakespeare=SHAKESPEARE)
    server.answers = [lambda _: server.closing.wait(30)]
    assert f"{server.url}: no answer within 0.3 seconds" in why_not()
    assert server.requests == 1


def test_server_that_sends_a_byte_now_and_then_is_given_up(server, publish, monkeypatch, cache):
    def answer(handler):
        handler.send_response(200)
        handler.end_headers()
        while not server.closing.wait(0.05):
            handler.wfile.write(b"T" * 1024)

    big = SHAKESPEARE * 1000
    monkeypatch.setattr(fetching, "TRANSFER_SECONDS", 0.5)
    publish(server, shakespeare=big)
    server.answers = [answer]
    message = why_not()
    assert "860,000 bytes within 0.5 seconds" in message
    assert "only " in message
    assert cached(cache) is None


def test_page_that_never_ends_is_left_once_it_is_too_long(server, publish, monkeypatch, cache):
    def answer(handler):
        handler.send_response(200)
        handler.end_headers()
        while not server.closing.wait(0.01):
            handler.wfile.write(b"<html>" * 1000)

    monkeypatch.setattr(fetching, "TRANSFER_SECONDS", 3.0)
    publish(server, shakespeare=SHAKESPEARE)
    server.answers = [answer]
    assert "another or an altered file: it goes on beyond 860 bytes" in why_not()
    assert server.requests == 2


def test_name_lookup_that_hangs_is_given_up(publish, monkeypatch, cache):
    over = threading.Event()

    def hangs(*_args, **_kwargs):
        over.wait(30)
        raise socket.gaierror(-3, "too late")

    monkeypatch.setattr(socket, "getaddrinfo", hangs)
    monkeypatch.setattr(fetching, "ANSWER_SECONDS", 0.3)
    publish("http://corpora.invalid/corpus.txt", shakespeare=SHAKESPEARE)
    message = why_not()
    over.set()
    assert "http://corpora.invalid/corpus.txt: no answer within 0.3 seconds" in message


def test_name_that_is_unknown_is_reported_in_the_words_of_the_system(publish, monkeypatch):
    def unknown(*_args, **_kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    publish("http://corpora.invalid/corpus.txt", shakespeare=SHAKESPEARE)
    assert "no connection (Name or service not known)" in why_not()


# The cache


def test_unwritable_cache_is_an_error_that_names_folder_and_remedy(
    server, publish, tmp_path, monkeypatch
):
    publish(server, shakespeare=SHAKESPEARE)
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        monkeypatch.setenv("COURSE_CACHE", str(folder))
        with pytest.raises(CacheNotWritableError) as caught:
            load("shakespeare")
        message = str(caught.value)
        assert str(folder) in message
        assert "COURSE_CACHE" in message
        assert "COURSE_DATA" in message
        assert isinstance(caught.value, OSError)
    assert server.requests == 0


def test_disk_that_fills_up_is_explained_and_leaves_nothing_behind(
    server, publish, cache, monkeypatch
):
    def full(_source, _target):
        raise OSError(28, "No space left on device")

    publish(server, shakespeare=SHAKESPEARE)
    monkeypatch.setattr(fetching.os, "replace", full)
    with pytest.raises(CacheNotWritableError, match="No space left on device"):
        load("shakespeare")
    assert cached(cache) is None
    assert left_behind(cache) == set()


def test_course_cache_names_the_folder_and_the_platform_does_otherwise(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", "~/corpora")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "corpora"
    monkeypatch.delenv("COURSE_CACHE")
    assert cache_folder().name == "averages-to-transformers"
    assert cache_folder().is_absolute()


def test_a_user_without_a_home_folder_is_told_to_name_a_cache(monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", "~nobody-of-this-name/corpora")
    with pytest.raises(CacheNotWritableError, match="no home folder"):
        cache_folder()


LOADS = """
import dataclasses, hashlib, sys
from course_lib.data import corpora
url, sha256, size = sys.argv[1:]
source = dataclasses.replace(
    corpora.SOURCES["shakespeare"], url=url, sha256=sha256, size=int(size)
)
corpora.SOURCES = {"shakespeare": source}
print("ready", flush=True)
sys.stdin.readline()
text = corpora.load("shakespeare", fallback=False).text
print("text", hashlib.sha256(text.encode()).hexdigest(), flush=True)
"""


@pytest.mark.slow
def test_processes_that_load_at_once_get_the_same_text_and_fetch_it_once(server, publish, cache):
    publish(server, shakespeare=SHAKESPEARE)
    source = load.__globals__["SOURCES"]["shakespeare"]

    def slowly(_handler):
        server.closing.wait(0.5)  # so that the others come while the first is fetching
        return SHAKESPEARE

    server.answers = [slowly]
    command = [sys.executable, "-c", LOADS, server.url, source.sha256, str(source.size)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert f"text {source.sha256}" in out
    assert server.requests == 1
    assert cached(cache) == SHAKESPEARE
    assert left_behind(cache) == set()


def test_a_lock_that_nobody_gives_back_is_waited_for_and_then_passed_by(
    server, publish, cache, monkeypatch
):
    publish(server, shakespeare=SHAKESPEARE)
    cache.mkdir()
    monkeypatch.setattr(fetching, "LOCK_SECONDS", 0.2)
    with filelock.FileLock(cache / "shakespeare.txt.lock"):
        assert load("shakespeare").text == SHAKESPEARE.decode()
    assert cached(cache) == SHAKESPEARE


def test_a_reader_never_sees_half_a_file(server, publish, cache, monkeypatch):
    """At the moment of the rename, the file beside it is whole and the old one still in place."""
    seen = []
    replace = os.replace

    def watched(part, target):
        seen.append((Path(part).read_bytes(), Path(target).read_bytes()))
        replace(part, target)

    publish(server, shakespeare=SHAKESPEARE)
    cache.mkdir()
    (cache / "shakespeare.txt").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", watched)
    load("shakespeare")
    assert seen == [(SHAKESPEARE, b"old")]


def test_corpora_do_not_share_a_file_or_a_lock(server, publish, cache):
    publish(server, shakespeare=SHAKESPEARE, names=NAMES)
    load("shakespeare")
    server.answers = [NAMES]
    load("names")
    names = {"shakespeare.txt", "names.txt", "shakespeare.txt.lock", "names.txt.lock"}
    assert {path.name for path in cache.iterdir()} == names
