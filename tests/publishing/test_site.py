"""The book is built once for each state of its sources, without warnings, and served here."""

import functools
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from course_grader.notebook_form import normalize
from course_page import runtime
from setup import book_site, site_server

ROOT = Path(__file__).parents[2]


# What checks answers in the pages weighs more than all the rest, and has tests of its own.
build = functools.partial(book_site.build, python=False)


def write_small_book(folder):
    """The real configuration around one chapter, one exercise and its solution."""
    shutil.copy(ROOT / "_config.yml", folder)
    exercise = {"file": "exercises/01-one/01-one"}
    contents = {
        "format": "jb-book",
        "root": "book/index",
        "parts": [
            {"caption": "Part I", "chapters": [{"file": "book/01-one", "sections": [exercise]}]}
        ],
    }
    (folder / "_toc.yml").write_text(yaml.safe_dump(contents), encoding="utf-8")
    for part in ("_assets", "_ext", "field_guide", "recorded_verdicts"):
        shutil.copytree(ROOT / "book" / part, folder / "book" / part)
    for file in ("references.bib", "section_words.toml"):
        shutil.copy(ROOT / "book" / file, folder / "book")
    (folder / "book" / "index.md").write_text("# A book\n\nWith $x^2$.\n")
    for name in ("book", "exercises/01-one", "solutions/01-one"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        cell = {"cell_type": "markdown", "metadata": {}, "source": f"# One in {name}"}
        notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}
        path = folder / name / "01-one.ipynb"
        path.write_text(json.dumps(notebook))
        normalize(path)
    return folder


@pytest.fixture(scope="module")
def built_book(tmp_path_factory):
    """A small book, built once, to look at."""
    folder = write_small_book(tmp_path_factory.mktemp("book"))
    build(folder)
    return folder


@pytest.fixture
def small_book(built_book, tmp_path):
    """A copy of it, with what was built, to change and to break."""
    return shutil.copytree(built_book, tmp_path / "book")


def page(folder, name="exercises/01-one/01-one.html"):
    return (folder / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_build_is_made_again_only_when_a_source_changed(small_book):
    built = build(small_book)
    assert built == small_book / "_build" / "html"
    assert (built / "index.html").exists()
    (built / "mark").touch()
    build(small_book)
    assert (built / "mark").exists()
    (small_book / "book" / "index.md").write_text("# Another title\n")
    build(small_book)
    assert not (built / "mark").exists()
    assert "Another title" in page(built, "book/index.html")


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs two cores, and a system that can do without one of them",
)
def test_more_cores_build_the_same_site(small_book):
    names = [f"book/{number:02}-page" for number in range(2, 8)]
    for name in names:
        (small_book / f"{name}.md").write_text(f"# {name}\n\nWith $x^2$.\n")
    contents = yaml.safe_load((small_book / "_toc.yml").read_text())
    contents["parts"][0]["chapters"] += [{"file": name} for name in names]
    (small_book / "_toc.yml").write_text(yaml.safe_dump(contents))
    # An extension that notes which process reads and which writes a page.
    (small_book / "book" / "_ext" / "oldest_first.py").write_text(
        (small_book / "book" / "_ext" / "oldest_first.py").read_text()
        + "import os, pathlib\n"
        + "def note(app, *_):\n"
        + "    with pathlib.Path(app.srcdir, 'processes').open('a') as file:\n"
        + "        print(os.getpid(), file=file)\n"
        + "register = setup\n"
        + "def setup(app):\n"
        + "    app.connect('doctree-read', note)\n"
        + "    return register(app)\n"
    )
    mine = os.sched_getaffinity(0)
    sites, processes = [], []
    for cores in ({min(mine)}, mine):
        os.sched_setaffinity(0, cores)
        try:
            site = build(small_book, force=True)
        finally:
            os.sched_setaffinity(0, mine)
        files = [path for path in site.rglob("*") if path.is_file()]
        sites.append({path.relative_to(site): path.read_bytes() for path in files})
        noted = small_book / "processes"
        processes.append(len(set(noted.read_text().split())))
        noted.unlink()
    assert processes[0] == 1 < processes[1]
    assert sites[0] == sites[1]


@pytest.mark.slow
def test_a_warning_fails_the_build_and_the_last_good_site_stays(small_book):
    built = build(small_book)
    (small_book / "book" / "index.md").write_text("# A book\n\n[nowhere](no-such-page.md)\n")
    for _ in range(2):  # a second try finds the fault again
        with pytest.raises(book_site.BuildError, match=r"index\.md.*no-such-page"):
            build(small_book)
    assert "With" in page(built, "book/index.html")
    assert sorted(path.name for path in (small_book / "_build").iterdir() if path.is_dir()) == [
        "html"
    ]


@pytest.mark.slow
def test_editions_stand_side_by_side_and_only_self_study_holds_solutions(built_book):
    plain, self_study = build(built_book), build(built_book, solutions=True)
    assert plain != self_study
    assert not (plain / "solutions").exists()
    assert "One in solutions" in page(self_study, "solutions/01-one/01-one.html")
    assert "self-study edition" in page(self_study, "book/index.html")
    assert "self-study edition" not in page(plain, "book/index.html")


@pytest.mark.slow
def test_an_exercise_without_a_solution_fails_the_self_study_edition(small_book):
    shutil.rmtree(small_book / "solutions")
    with pytest.raises(
        book_site.BuildError, match=r"solutions/01-one/01-one\.ipynb does not exist"
    ):
        build(small_book, solutions=True)


@pytest.mark.slow
def test_the_address_of_the_repository_decides_about_colab_and_binder(built_book, small_book):
    without = page(build(built_book))
    assert "Download the notebook" in without
    assert "colab.research" not in without
    config = yaml.safe_load((small_book / "_config.yml").read_text())
    config["repository"] = {"url": "https://github.com/ada/course", "branch": "term"}
    (small_book / "_config.yml").write_text(yaml.safe_dump(config))
    with_one = page(build(small_book))
    assert "https://colab.research.google.com/github/ada/course/blob/term/exercises/" in with_one
    assert "https://mybinder.org/v2/gh/ada/course/term?urlpath=" in with_one
    assert 'download="01-one.ipynb"' in with_one


@pytest.mark.slow
def test_the_site_holds_what_its_pages_load_and_not_all_of_the_theme(built_book):
    site = build(built_book)
    assert "<math>" in page(site, "book/index.html")
    assert (site / "_static" / "math" / "STIXTwoMath.woff").exists()
    assert not list(site.rglob("fontawesome.js"))
    assert not list(site.rglob("*.map"))
    # Of the theme, about 400 kB of styles and 250 kB of scripts; its icons would be 2.5 MB.
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 2_000_000


@pytest.mark.slow
def test_where_nothing_can_be_fetched_the_book_is_built_without_python_and_says_so_once(
    small_book, monkeypatch, capfd, tmp_path
):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "empty"))
    for source in ("_from_addresses", "_from_npm", "_from_pip"):
        monkeypatch.setattr(runtime, source, lambda *_: ["no network"])
    site = book_site.build(small_book)
    said = capfd.readouterr().err
    assert said.count("this site's pages check no answers") == 1
    assert "PAGE=0" in said
    assert not (site / "_static" / "page").exists()
    assert "Content-Security-Policy" not in page(site)


@pytest.mark.slow
def test_a_formula_that_cannot_be_set_fails_the_build_and_is_named(small_book):
    (small_book / "book" / "index.md").write_text("# A book\n\nWith $\\nosuch{x}$.\n")
    with pytest.raises(book_site.BuildError, match="nosuch"):
        build(small_book)


def test_a_taken_port_gives_way_to_the_next_free_one():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert site_server.free_port(port) > port


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_number_that_is_no_port_is_refused(port):
    with pytest.raises(site_server.NoFreePortError, match=f"{port} is not a port"):
        site_server.free_port(port)


def test_serving_on_a_taken_port_says_so_and_serves_on_another(tmp_path):
    (tmp_path / "index.html").write_text("the book")
    program = (
        "import sys; from setup.site_server import serve; serve(sys.argv[1], int(sys.argv[2]))"
    )
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        serving = subprocess.Popen(
            [sys.executable, "-u", "-c", program, str(tmp_path), str(port)],
            stdout=subprocess.PIPE,
            text=True,
            # Tests that run in a shell's background ignore Ctrl-C, and their children would, too.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        try:
            assert f"Port {port} is in use" in serving.stdout.readline()
            said = serving.stdout.readline()
            chosen = int(said.split("http://localhost:")[1].split()[0])
            connection = http.client.HTTPConnection("127.0.0.1", chosen, timeout=10)
            connection.request("GET", "/index.html")
            assert connection.getresponse().read() == b"the book"
            serving.send_signal(signal.SIGINT)
            assert serving.wait(timeout=20) == 0
        finally:
            serving.kill()
            serving.stdout.close()


def test_the_server_speaks_to_this_machine_only(tmp_path):
    with site_server.server(tmp_path) as running:
        assert running.server_address[0] == "127.0.0.1"


def test_a_rebuilt_page_is_not_taken_from_the_browsers_cache(tmp_path):
    (tmp_path / "index.html").write_text("the book")
    with site_server.server(tmp_path) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        connection = http.client.HTTPConnection(*running.server_address, timeout=10)
        connection.request("GET", "/")
        assert connection.getresponse().getheader("Cache-Control") == "no-cache"
        running.shutdown()


def test_a_failed_build_ends_the_command_with_1_and_says_why(monkeypatch, capsys):
    def fail(**_):
        raise book_site.BuildError("book/x.md: WARNING: the fault")

    monkeypatch.setattr(book_site, "build", fail)
    assert book_site.main(["--no-serve"]) == 1
    assert "the fault" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("words", "wanted", "unwanted"),
    [
        ([], ["--port 8000"], ["--no-serve", "--solutions"]),
        (["SERVE=0"], ["--no-serve"], ["--solutions"]),
        (["PORT=9123"], ["--port 9123"], ["--no-serve"]),
        (["SOLUTIONS=1"], ["--solutions"], ["--no-serve"]),
        (["PAGE=0"], ["--no-page"], ["--no-serve"]),
        (["PAGE=1"], ["--port 8000"], ["--no-page"]),
        (["SOLUTIONS=0", "SERVE=1"], ["--port 8000"], ["--no-serve", "--solutions"]),
    ],
)
def test_words_to_make_book_reach_the_builder(words, wanted, unwanted):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    plan = subprocess.run(
        ["make", "--dry-run", "book", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert all(word in plan for word in wanted)
    assert not [word for word in unwanted if word in plan]
