"""Corpora: the texts of the course, each with its vocabulary and its splits."""

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from course_lib.data.fetching import (
    FOLDER_VARIABLE,
    Attempt,
    Source,
    all_attempts,
    stored_attempts,
)
from course_lib.data.notices import Notice
from course_lib.data.vocabulary import Vocabulary
from course_lib.errors import (
    CorpusUnavailableError,
    UnknownCorpusError,
)

if TYPE_CHECKING:
    from course_lib.data.play import Play

SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "shakespeare": Source(
            title="Tiny Shakespeare",
            file="shakespeare.txt",
            url="https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
            sha256="86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
            size=1_115_394,
        ),
        "names": Source(
            title="the list of names",
            file="names.txt",
            url="https://raw.githubusercontent.com/karpathy/makemore/master/names.txt",
            sha256="0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d",
            size=228_145,
        ),
    }
)
NAMES = (*SOURCES, "play")

BOUNDARY = "."  # stands before, between and after the names; no name holds it
TRAIN_SHARE, VALIDATION_SHARE = 0.8, 0.1  # of the names; the rest is the test split
TRAIN_SHARE_OF_TEXT = 0.9  # the beginning of a continuous text; the rest is for validation
# Texts that were asked for where none is in reach; see `out_of_reach`.
_ASKED: ContextVar[list[str] | None] = ContextVar("asked", default=None)
NAMES_SEED = 1  # fixes which name is in which split, on every machine


@dataclass(frozen=True, repr=False, eq=False)
class Corpus:
    """A text, its vocabulary, and its tokens in splits.

    Parameters
    ----------
    name : str
        What the text really is: "play" where the play stands in for another.
    text : str
        All of it.
    vocabulary : Vocabulary
        Every symbol of the text.
    splits : mapping of str to (N,) int64 tensor
        Tokens of "train" and "validation"; the names have "test" too. Every call of `load` makes
        new ones, so that changing them in place changes no other corpus. Those of `of_text` are
        int16 or int32, because such a text may be long.
    """

    name: str
    text: str
    vocabulary: Vocabulary
    splits: Mapping[str, Tensor]

    @functools.cached_property
    def train(self) -> Tensor:
        """``splits["train"]`` as (N,) int64: what a model learns from."""
        return self.splits["train"].long()

    @functools.cached_property
    def validation(self) -> Tensor:
        """``splits["validation"]`` as (N,) int64: what a model is judged on."""
        return self.splits["validation"].long()

    def __repr__(self) -> str:
        """Name and sizes; the text itself would fill the page."""
        sizes = ", ".join(f"{split} {len(tokens):,}" for split, tokens in self.splits.items())
        return (
            f"Corpus({self.name!r}: {len(self.text):,} characters, "
            f"{len(self.vocabulary)} symbols; {sizes})"
        )


def load(name: str, *, fallback: bool = True) -> Corpus:
    """Load a corpus, from this machine where it can be, from its public address otherwise.

    "shakespeare" is Tiny Shakespeare: 1,115,394 characters, 65 symbols; the first nine tenths are
    for training, the rest for validation.

    "names" are 32,033 first names as one text, ``.emma.olivia.ava.`` and so on: 27 symbols. The
    distinct names are drawn at random, always in the same way, for training (8 of 10), validation
    and test (1 of 10 each). A name that is on the list twice is twice in the same split, so that
    no name of one split is in another.

    "play" is the comedy that `course_lib.data.play` writes, in the 65 symbols of Tiny
    Shakespeare, split as that is. It needs neither a network nor a file.

    A corpus is looked for in the folder that the environment variable ``COURSE_DATA`` names
    (files ``shakespeare.txt`` and ``names.txt``), then in the cache, then at its public address,
    from which it goes into the cache. The cache is a folder of the platform's own, or the one that
    the environment variable ``COURSE_CACHE`` names. Wherever a file comes from, its SHA-256 digest
    is checked. A file that is not the right one is refused, with a notice, and the next place is
    asked; a cached one is replaced.

    Parameters
    ----------
    name : {"shakespeare", "names", "play"}
        Which one.
    fallback : bool
        What to do when the corpus is nowhere to be had: say so in a notice and return the play
        (True, so that every chapter can be read anywhere), or raise `CorpusUnavailableError`
        (False).

    Returns
    -------
    Corpus
        Its ``name`` says what it is: "play" if that stands in for the one that was asked for.

    Raises
    ------
    UnknownCorpusError
        If no corpus has this name.
    CorpusUnavailableError
        If the corpus is nowhere to be had and `fallback` is False.
    CacheNotWritableError
        If the corpus has to be fetched and the cache cannot keep it.
    """
    if name == "play":
        return contiguous("play", play_once().text)
    source = _source(name)
    asked = _ASKED.get()
    if asked is not None:
        asked.append(name)
        raise CorpusUnavailableError(f"{source.title} is out of reach here, as in a graded run")
    attempts = all_attempts(source)
    content = attempts[-1].content
    if content is None:
        if not fallback:
            raise CorpusUnavailableError(_why_unavailable(source, attempts))
        _stand_in_notice(source, attempts).show()
        return contiguous("play", play_once().text)
    refused = [attempt for attempt in attempts if attempt.refused]
    if refused:
        _refusal_notice(source, refused, attempts[-1]).show()
    text = content.decode("utf-8")
    return of_names(name, text.split()) if name == "names" else contiguous(name, text)


@contextlib.contextmanager
def out_of_reach() -> Iterator[list[str]]:
    """Inside the block, `load` finds no text, and nothing stands in for it.

    Yields
    ------
    list of str
        Names of the texts that were asked for, as they are asked for.
    """
    asked: list[str] = []
    before = _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(before)


def of_names(name: str, names: Sequence[str]) -> Corpus:
    """A corpus of names, or of any words: boundaries between them, and three splits.

    Every distinct name is in one split, as often as it is on the list. The draw is always the same.

    Parameters
    ----------
    name : str
        What the corpus is called.
    names : sequence of str
        None may hold the boundary "."; with fewer than ten distinct ones a split may be empty.

    Returns
    -------
    Corpus
        With the splits "train" (8 of 10 distinct names), "validation" and "test".

    Raises
    ------
    ValueError
        If a name is empty or holds the boundary.
    TypeError
        If one text is given in place of a list.
    """
    if isinstance(names, str):
        raise TypeError(
            f"names is one text of {len(names):,} characters: give a list, for example "
            "text.split(); a continuous text becomes a corpus by data.of_text(name, text)"
        )
    broken = next((each for each in names if not each or BOUNDARY in each), None)
    if broken is not None:
        raise ValueError(f"{broken!r} is no name: it is empty or holds the boundary {BOUNDARY!r}")
    text = _joined(names)
    vocabulary = Vocabulary.of(text)
    generator = torch.Generator().manual_seed(NAMES_SEED)
    # The distinct names are drawn. A draw from the list itself would favour names that stand on it
    # twice, which are the common ones.
    distinct = _shuffled(list(dict.fromkeys(names)), generator)
    shuffled = _shuffled(names, generator)
    first = int(TRAIN_SHARE * len(distinct))
    second = int((TRAIN_SHARE + VALIDATION_SHARE) * len(distinct))
    chosen = {
        "train": set(distinct[:first]),
        "validation": set(distinct[first:second]),
        "test": set(distinct[second:]),
    }
    splits = {
        split: vocabulary.encode(_joined([each for each in shuffled if each in members]))
        for split, members in chosen.items()
    }
    return Corpus(name, text, vocabulary, splits)


def find(name: str) -> Path | None:
    """Where a good copy of a corpus is on this machine; no network is used.

    Parameters
    ----------
    name : {"shakespeare", "names"}
        Which one; the play is not a file.

    Returns
    -------
    Path or None
        The file that `load` would read, its digest checked; None if there is none.

    Raises
    ------
    UnknownCorpusError
        If no corpus that is a file has this name.
    """
    last = stored_attempts(_source(name))[-1]
    return Path(last.place) if last.content is not None else None


def floor(corpus: Corpus) -> float:
    """The loss on the validation split that no model can beat: known for the play alone.

    Returns
    -------
    float
        Nats per character; 0 for any other text, whose probabilities nobody knows.
    """
    if corpus.name != "play" or corpus.text != play_once().text:
        return 0.0
    return play_once().floor(slice(len(corpus.train), None))


def _source(name: str) -> Source:
    if name not in SOURCES:
        known = ", ".join(repr(known) for known in NAMES)
        raise UnknownCorpusError(
            f"there is no corpus {name!r}; there are {known}. A text of your own becomes one by "
            "data.of_file(path) or data.of_text(name, text)"
        )
    return SOURCES[name]


@functools.cache
def play_once() -> "Play":
    """The play, written once a process: it takes seconds."""
    from course_lib.data import play

    return play.write()


def contiguous(name: str, text: str, compact: bool = False) -> Corpus:
    """A continuous text: the beginning for training, the end for validation."""
    vocabulary = Vocabulary.of(text)
    tokens = vocabulary.encode(text, compact=compact)
    cut = min(int(TRAIN_SHARE_OF_TEXT * len(tokens)), len(tokens) - 2)
    return Corpus(name, text, vocabulary, {"train": tokens[:cut], "validation": tokens[cut:]})


def _shuffled(names: Sequence[str], generator: torch.Generator) -> list[str]:
    return [names[i] for i in torch.randperm(len(names), generator=generator).tolist()]


def _joined(names: Sequence[str]) -> str:
    return BOUNDARY + BOUNDARY.join(names) + BOUNDARY


def _remedy(source: Source) -> str:
    return (
        "Connect to the network and run this again. Or fetch the file elsewhere from "
        f"{source.url}, save it as {source.file} in a folder of this machine, and set the "
        f"environment variable {FOLDER_VARIABLE} to that folder."
    )


def _why_unavailable(source: Source, attempts: Sequence[Attempt]) -> str:
    tried = "\n".join(f"  - {attempt}" for attempt in attempts)
    return (
        f"there is no copy of {source.title} on this machine, and none could be fetched.\n"
        f"What was tried:\n{tried}\n{_remedy(source)}\n"
        'load("play") needs neither network nor file.'
    )


def _stand_in_notice(source: Source, attempts: Sequence[Attempt]) -> Notice:
    return Notice(
        f"this is the built-in play, not {source.title}",
        [
            f"There is no copy of {source.title} on this machine, and none could be fetched. "
            "What was tried:",
            "What follows runs on the built-in play instead. All of it works; the text, the "
            "losses and the samples differ from those that are printed in the book.",
            _remedy(source),
        ],
        [str(attempt) for attempt in attempts],
    )


def _refusal_notice(source: Source, refused: Sequence[Attempt], taken: Attempt) -> Notice:
    return Notice(
        f"a copy of {source.title} was refused",
        [
            f"The course uses a file only if its SHA-256 digest is {source.sha256}. Refused:",
            f"The right file was found here: {taken.place}. If you do not know why the other "
            "differs, delete it.",
        ],
        [str(attempt) for attempt in refused],
    )
