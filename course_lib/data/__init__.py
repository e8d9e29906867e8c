"""Text for the models: corpora, vocabularies, and the windows that batches are made of.

>>> from course_lib import data
>>> corpus = data.load("shakespeare")
>>> x, y = data.random_windows(corpus.train, batch_size=32, block_size=8)
>>> mine = data.of_file("letters.txt")  # a text of your own

Two environment variables matter, and both may be left unset: ``COURSE_DATA`` names a folder that
holds ``shakespeare.txt`` and ``names.txt`` already, ``COURSE_CACHE`` the folder in which fetched
files are kept. `load` says in which order places are asked.
"""

from course_lib.data.corpora import (
    NAMES,
    SOURCES,
    Corpus,
    find,
    floor,
    load,
    of_names,
    out_of_reach,
)
from course_lib.data.fetching import cache_folder
from course_lib.data.own_text import of_file, of_text
from course_lib.data.vocabulary import Vocabulary
from course_lib.data.windows import consecutive_windows, evaluation_windows, random_windows

__all__ = [
    "NAMES",
    "SOURCES",
    "Corpus",
    "Vocabulary",
    "cache_folder",
    "consecutive_windows",
    "evaluation_windows",
    "find",
    "floor",
    "load",
    "of_file",
    "of_names",
    "of_text",
    "out_of_reach",
    "random_windows",
]
