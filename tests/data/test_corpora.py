"""Promises of `load`: what each corpus holds, and what happens where it cannot be had."""

import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest
import torch

from course_lib.data import Vocabulary, corpora, find, load
from course_lib.errors import CacheNotWritableError, CorpusUnavailableError, UnknownCorpusError

SHAKESPEARE = ("To be, or not to be, that is the question:\n" * 20).encode()
NAMES = "\n".join(["emma", "olivia", "ava", "mia", "emma", "leo", "noah", "ava"] * 5).encode()

REAL = Path(os.environ.get("COURSE_DATA") or "nowhere").expanduser()
needs_real_corpora = pytest.mark.skipif(
    not all((REAL / source.file).is_file() for source in corpora.SOURCES.values()),
    reason="COURSE_DATA names no folder with shakespeare.txt and names.txt",
)


def words(split: torch.Tensor, vocabulary: Vocabulary) -> list[str]:
    text = vocabulary.decode(split)
    assert text[0] == text[-1] == "."
    return text[1:-1].split(".")


# The real corpora


@needs_real_corpora
def test_digests_and_sizes_are_those_of_the_files_in_course_data():
    for source in corpora.SOURCES.values():
        content = (REAL / source.file).read_bytes()
        assert hashlib.sha256(content).hexdigest() == source.sha256
        assert len(content) == source.size


@needs_real_corpora
def test_tiny_shakespeare_has_the_numbers_that_the_book_quotes(capfd):
    corpus = load("shakespeare", fallback=False)
    assert corpus.name == "shakespeare"
    assert len(corpus.text) == 1_115_394
    assert len(corpus.vocabulary) == 65
    assert len(corpus.train) == 1_003_854
    assert len(corpus.validation) == 111_540
    assert set(corpus.splits) == {"train", "validation"}
    decode = corpus.vocabulary.decode
    assert decode(corpus.train) + decode(corpus.validation) == corpus.text
    assert capfd.readouterr() == ("", "")


@needs_real_corpora
def test_names_have_the_numbers_that_the_book_quotes(capfd):
    corpus = load("names", fallback=False)
    assert corpus.text.startswith(".emma.olivia.ava.")
    assert corpus.text.endswith(".zzyzx.")
    assert corpus.text.count(".") == 32_033 + 1
    assert corpus.vocabulary.symbols == tuple(".abcdefghijklmnopqrstuvwxyz")
    assert capfd.readouterr() == ("", "")


@needs_real_corpora
def test_no_name_of_one_split_is_in_another_and_none_is_lost():
    corpus = load("names", fallback=False)
    splits = {split: words(tokens, corpus.vocabulary) for split, tokens in corpus.splits.items()}
    together = [name for names in splits.values() for name in names]
    assert sorted(together) == sorted(corpus.text[1:-1].split("."))
    distinct = {split: set(names) for split, names in splits.items()}
    everything = set(together)
    assert sum(len(names) for names in distinct.values()) == len(everything)
    for split, share in {"train": 0.8, "validation": 0.1, "test": 0.1}.items():
        assert len(distinct[split]) / len(everything) == pytest.approx(share, abs=1e-3)


@needs_real_corpora
def test_names_of_each_split_are_a_fair_sample_of_the_list():
    corpus = load("names", fallback=False)
    distinct = list(dict.fromkeys(corpus.text[1:-1].split(".")))
    rank = {name: i for i, name in enumerate(distinct)}
    for tokens in corpus.splits.values():
        ranks = [rank[name] for name in set(words(tokens, corpus.vocabulary))]
        assert sum(ranks) / len(ranks) == pytest.approx(len(distinct) / 2, rel=0.05)


# What holds for all of them


def test_splits_are_the_same_every_time_and_belong_to_the_caller(server, publish):
    publish(server, shakespeare=SHAKESPEARE, names=NAMES)
    for name, content in {"shakespeare": SHAKESPEARE, "names": NAMES}.items():
        server.answers = [content]
        torch.manual_seed(1)
        one = load(name)
        kept = {split: tokens.clone() for split, tokens in one.splits.items()}
        for tokens in one.splits.values():
            tokens.zero_()
        torch.manual_seed(2)
        two = load(name)
        for split, tokens in kept.items():
            assert torch.equal(two.splits[split], tokens)


def test_continuous_text_is_cut_once_at_nine_tenths(server, publish):
    publish(server, shakespeare=SHAKESPEARE)
    corpus = load("shakespeare")
    cut = int(0.9 * len(SHAKESPEARE))
    assert corpus.text == SHAKESPEARE.decode()
    assert corpus.vocabulary.decode(corpus.train) == corpus.text[:cut]
    assert corpus.vocabulary.decode(corpus.validation) == corpus.text[cut:]


def test_a_name_that_is_listed_twice_is_twice_in_one_split(server, publish):
    publish(server, names=NAMES)
    corpus = load("names")
    listed = NAMES.decode().split()
    for tokens in corpus.splits.values():
        if len(tokens) > 2:
            names = words(tokens, corpus.vocabulary)
            assert {n: names.count(n) for n in names} == {n: listed.count(n) for n in names}


def test_a_split_without_names_is_two_boundaries_and_no_error(server, publish):
    publish(server, names=b"emma\nava")
    corpus = load("names")
    assert {len(tokens) for tokens in corpus.splits.values()} <= {2, 5, 6, 10}


def test_a_corpus_shows_its_sizes_and_not_its_text(server, publish):
    publish(server, shakespeare=SHAKESPEARE)
    shown = repr(load("shakespeare"))
    assert shown.startswith("Corpus('shakespeare': 860 characters, ")
    assert "train 774, validation 86" in shown
    assert "question" not in shown


def test_a_corpus_survives_the_way_to_another_process(server, publish):
    publish(server, shakespeare=SHAKESPEARE)
    corpus = load("shakespeare")
    copy = pickle.loads(pickle.dumps(corpus))
    assert copy.text == corpus.text
    assert torch.equal(copy.train, corpus.train)


@pytest.mark.parametrize("name", ["Shakespeare", "", "sonnets", None])
def test_unknown_name_is_an_error_that_lists_the_known_ones(name):
    with pytest.raises(UnknownCorpusError, match="'shakespeare', 'names', 'play'") as caught:
        load(name)
    assert repr(name) in str(caught.value)


# The play


@pytest.mark.slow
def test_play_needs_neither_network_nor_cache_and_says_nothing(cache, closed_port, publish, capfd):
    publish(closed_port, shakespeare=SHAKESPEARE)
    corpus = load("play", fallback=False)
    assert corpus.name == "play"
    assert len(corpus.text) >= 1_000_000
    assert len(corpus.vocabulary) == 65
    assert len(corpus.train) == int(0.9 * len(corpus.text))
    decode = corpus.vocabulary.decode
    assert decode(corpus.train) + decode(corpus.validation) == corpus.text
    assert not cache.exists()
    assert capfd.readouterr() == ("", "")


def test_play_is_written_once_a_process():
    assert load("play").text is load("play").text


@needs_real_corpora
def test_play_is_written_in_the_symbols_of_tiny_shakespeare():
    assert load("play").vocabulary == load("shakespeare", fallback=False).vocabulary


# No route


@pytest.mark.parametrize("name", ["shakespeare", "names"])
def test_without_a_route_the_play_stands_in_and_stdout_says_so(
    name, cache, closed_port, publish, capfd
):
    publish(closed_port, shakespeare=SHAKESPEARE, names=NAMES)
    corpus = load(name)
    assert corpus.name == "play"
    assert corpus.text == load("play").text
    out, err = capfd.readouterr()
    out = " ".join(out.split())
    assert err == ""
    assert f"NOTICE: this is the built-in play, not {corpora.SOURCES[name].title}" in out
    assert "$COURSE_DATA: not set" in out
    assert str(cache) in out
    assert "no connection (Connection refused)" in out
    assert "set the environment variable COURSE_DATA" in out


def test_without_a_route_and_without_fallback_the_error_says_what_was_tried_and_what_to_do(
    cache, closed_port, publish
):
    publish(closed_port, shakespeare=SHAKESPEARE)
    with pytest.raises(CorpusUnavailableError) as caught:
        load("shakespeare", fallback=False)
    message = str(caught.value)
    assert "$COURSE_DATA: not set" in message
    assert f"{cache / 'shakespeare.txt'}: no such file" in message
    assert f"{closed_port}: no connection (Connection refused)" in message
    assert "set the environment variable COURSE_DATA" in message
    assert 'load("play")' in message


@pytest.mark.slow
def test_in_a_notebook_the_notice_is_a_box_with_its_text_beside_it_and_nothing_on_stderr(tmp_path):
    code = (
        "from course_lib.data.notices import Notice\n"
        "Notice('no <route>', ['First.', 'Second.'], ['place: answer']).show()"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "display_data"
    assert "Notice: no &lt;route&gt;" in output.data["text/html"]
    assert "<li>place: answer</li>" in output.data["text/html"]
    assert "NOTICE: no <route>" in output.data["text/plain"]
    assert "Second." in output.data["text/plain"]


# COURSE_DATA


@pytest.fixture
def folder(tmp_path, monkeypatch, publish, closed_port) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    publish(closed_port, shakespeare=SHAKESPEARE)
    monkeypatch.setenv("COURSE_DATA", str(folder))
    return folder


def test_course_data_comes_first_and_touches_nothing_else(folder, cache, capfd):
    (folder / "shakespeare.txt").write_bytes(SHAKESPEARE)
    cache.mkdir()
    (cache / "shakespeare.txt").write_bytes(b"not asked")
    assert load("shakespeare").text == SHAKESPEARE.decode()
    assert find("shakespeare") == folder / "shakespeare.txt"
    assert (cache / "shakespeare.txt").read_bytes() == b"not asked"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (SHAKESPEARE[:-10], "cut short or altered: 850 of 860 bytes"),
        (b"", "cut short or altered: 0 of 860 bytes"),
        (SHAKESPEARE.replace(b"be", b"bi"), "the size is right and the SHA-256 digest is not"),
        (SHAKESPEARE + b"More.", "goes on beyond 860 bytes"),
        (SHAKESPEARE.replace(b"\n", b"\r\n"), "line ends were changed to CRLF"),
        (b"\xff" + SHAKESPEARE[1:], "not UTF-8 text (byte 0xff at 0)"),
    ],
)
def test_wrong_file_in_course_data_is_refused_with_its_reason_and_the_next_place_is_asked(
    content, reason, folder, cache, capfd
):
    (folder / "shakespeare.txt").write_bytes(content)
    cache.mkdir()
    (cache / "shakespeare.txt").write_bytes(SHAKESPEARE)
    assert load("shakespeare").text == SHAKESPEARE.decode()
    out, err = capfd.readouterr()
    out = " ".join(out.split())
    assert err == ""
    assert "NOTICE: a copy of Tiny Shakespeare was refused" in out
    assert reason in out
    assert find("shakespeare") == cache / "shakespeare.txt"
    assert (folder / "shakespeare.txt").read_bytes() == content  # it is the reader's, not ours


def test_course_data_that_is_no_folder_is_said(monkeypatch, folder, cache, capfd):
    monkeypatch.setenv("COURSE_DATA", str(folder / "mistyped"))
    cache.mkdir()
    (cache / "shakespeare.txt").write_bytes(SHAKESPEARE)
    assert load("shakespeare").name == "shakespeare"
    out = " ".join(capfd.readouterr().out.split())
    assert f"$COURSE_DATA = {folder / 'mistyped'}: is not a folder" in out


def test_course_data_without_the_file_and_empty_course_data_are_no_reason_for_a_notice(
    monkeypatch, folder, cache, capfd
):
    cache.mkdir()
    (cache / "shakespeare.txt").write_bytes(SHAKESPEARE)
    assert load("shakespeare").name == "shakespeare"
    monkeypatch.setenv("COURSE_DATA", "")
    assert load("shakespeare").name == "shakespeare"
    assert capfd.readouterr() == ("", "")


def test_a_file_that_cannot_be_read_is_refused_with_its_reason(folder):
    (folder / "shakespeare.txt").mkdir()
    with pytest.raises(CorpusUnavailableError, match=r"cannot be read \(Is a directory\)"):
        load("shakespeare", fallback=False)


def test_find_finds_nothing_where_nothing_is_and_never_asks_the_network(server, publish):
    publish(server, shakespeare=SHAKESPEARE)
    assert find("shakespeare") is None
    assert server.requests == 0
    with pytest.raises(UnknownCorpusError):
        find("sonnets")


def test_a_cache_is_asked_for_only_when_something_must_be_fetched(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "file"))
    with pytest.raises(CacheNotWritableError):
        load("shakespeare")
    (folder / "shakespeare.txt").write_bytes(SHAKESPEARE)
    assert load("shakespeare").name == "shakespeare"


# Importing


@pytest.mark.slow
def test_importing_data_brings_in_neither_pictures_nor_the_network():
    code = (
        "import sys, course_lib.data\n"
        "heavy = {'matplotlib', 'pooch', 'requests', 'filelock', 'IPython', 'course_tasks'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
