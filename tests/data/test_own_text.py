"""Promises to whoever brings a text of their own."""

import tracemalloc

import pytest
import torch
import tqdm

from course_lib import data
from course_lib.data import vocabulary
from course_lib.errors import (
    CorpusTooShortError,
    NotTextError,
    UnknownCorpusError,
    UnknownSymbolError,
)
from course_lib.model import Bigram
from course_lib.training import fit

TEXT = "Wer reitet so spät durch Nacht und Wind?\nEs ist der Vater mit seinem Kind. 🐎\n" * 20


def test_a_text_becomes_a_corpus_of_two_splits_that_give_it_back():
    corpus = data.of_text("ballad", TEXT)
    assert corpus.name == "ballad"
    assert corpus.text == TEXT
    decode = corpus.vocabulary.decode
    assert decode(corpus.train) + decode(corpus.validation) == TEXT
    assert len(corpus.train) == int(0.9 * len(TEXT))
    assert corpus.vocabulary.symbols == tuple(sorted(set(TEXT)))
    assert data.floor(corpus) == 0.0


def test_its_splits_are_small_and_what_a_chapter_computes_with_is_int64():
    corpus = data.of_text("ballad", TEXT)
    for name, split in {"train": corpus.train, "validation": corpus.validation}.items():
        assert corpus.splits[name].dtype == torch.int16
        assert split.dtype == torch.int64
        assert split is getattr(corpus, name)  # made once
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 2**15 + 1)))
    corpus = data.of_text("more symbols than int16 holds", many + many)
    assert corpus.splits["train"].dtype == torch.int32
    assert corpus.vocabulary.decode(corpus.train[-5:]) == (many + many)[: len(corpus.train)][-5:]


def test_the_file_says_the_same_with_any_line_ends_and_a_mark_at_its_beginning(tmp_path):
    path = tmp_path / "ballad.txt"
    for written in (
        TEXT.encode(),
        b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
    ):
        path.write_bytes(written)
        corpus = data.of_file(path)
        assert (corpus.name, corpus.text) == ("ballad", TEXT)
    path.write_bytes(TEXT.encode("utf-16"))
    assert data.of_file(str(path), encoding="utf-16").text == TEXT


@pytest.mark.parametrize(
    ("encoding", "advised"), [("latin-1", "cp1252"), ("utf-16", "utf-16"), ("cp1252", "cp1252")]
)
def test_a_file_in_another_encoding_is_told_which_it_may_be(tmp_path, encoding, advised):
    path = tmp_path / "ballad.txt"
    path.write_bytes("spät durch Nacht".encode(encoding))
    with pytest.raises(NotTextError, match=rf"no text in utf-8.*encoding='{advised}'"):
        data.of_file(path)
    assert data.of_file(path, encoding=advised).text == "spät durch Nacht"


def test_a_file_that_is_not_there_is_named_with_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=rf"'ballad\.txt' in {tmp_path}"):
        data.of_file("ballad.txt")


def test_ten_characters_can_be_trained_on():
    corpus = data.of_text("ten", "0123456789")
    assert (len(corpus.train), len(corpus.validation)) == (8, 2)
    history = fit(Bigram(10), corpus, steps=2, block_size=4, progress=False)
    assert history.evaluations[-1].loss > 0


@pytest.mark.parametrize("text", ["", "abc", "\ufeffabc", "a\r\nb\r\n"[:4]])
def test_a_text_too_short_for_two_splits_is_refused_with_its_length(text):
    with pytest.raises(CorpusTooShortError, match=r"has [0-3] characters.*at least 4"):
        data.of_text("short", text)


def test_what_is_no_text_is_told_how_it_becomes_one():
    for refused in (b"to be", ["to", "be"], None):
        for make in (lambda text: data.of_text("mine", text), data.Vocabulary.of):
            with pytest.raises(TypeError, match=rf"got {type(refused).__name__}: .*of_file"):
                make(refused)
    with pytest.raises(TypeError, match=r"text of 8 characters.*text\.split\(\).*of_text"):
        data.of_names("mine", "Ana\nBob\n")
    with pytest.raises(TypeError, match=r"of_text\(name, text\)"):
        data.random_windows("to be", 1, 1)
    with pytest.raises(UnknownCorpusError, match=r"no corpus 'input\.txt'.*of_file\(path\)"):
        data.load("input.txt")


def test_a_long_text_is_read_in_pieces_and_none_of_them_is_lost(monkeypatch, capsys):
    bar = tqdm.tqdm
    monkeypatch.setattr(tqdm, "tqdm", lambda *a, **k: bar(*a, **{**k, "delay": 0}))
    monkeypatch.setattr(vocabulary, "_PIECE", 7)
    corpus = data.of_text("ballad", TEXT)
    assert corpus.vocabulary.decode(corpus.vocabulary.encode(TEXT)) == TEXT
    assert corpus.vocabulary.symbols == tuple(sorted(set(TEXT)))
    with pytest.raises(UnknownSymbolError, match=r"'x'.*position 30 .*; 2 more unknown symbols"):
        corpus.vocabulary.encode(TEXT[:30] + "x" + TEXT[:20] + "xx" + TEXT)
    shown = capsys.readouterr()
    assert "tokens: " in shown.out  # a graded cell loses its points for what it writes on stderr
    assert shown.err == ""


def test_encoding_takes_at_most_four_bytes_a_character():
    text = TEXT.replace("🐎", "!").encode("ascii", "replace").decode() * 3000
    assert len(text) > 4 * vocabulary._PIECE
    tracemalloc.start()
    try:
        data.of_text("long", text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    pieces = 24 * vocabulary._PIECE  # what one piece takes, whatever the length of the text
    assert peak < 2.1 * len(text) + pieces
