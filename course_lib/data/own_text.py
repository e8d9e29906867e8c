"""A text of your own as a corpus, from a file or from a string."""

import os
from pathlib import Path

from course_lib.data.corpora import Corpus, contiguous
from course_lib.data.vocabulary import check_text
from course_lib.errors import CorpusTooShortError, NotTextError


def of_file(path: str | os.PathLike[str], encoding: str = "utf-8") -> Corpus:
    """A corpus of a text file of your own, named after the file; see `of_text`.

    Parameters
    ----------
    path : path
        The file.
    encoding : str
        How it stores characters; "utf-16" and "cp1252" are others that are common.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    NotTextError
        If its bytes are no text in this encoding.
    CorpusTooShortError
        As `of_text`.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {path.name!r} in {path.absolute().parent}")
    try:
        return of_text(path.stem, path.read_text(encoding))
    except UnicodeError as error:
        with path.open("rb") as file:
            other = "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "cp1252"
        raise NotTextError(
            f"{path} is no text in {encoding} ({error}): give its encoding, "
            f"for example of_file({str(path)!r}, encoding={other!r})"
        ) from error


def of_text(name: str, text: str) -> Corpus:
    """A corpus of a text of your own: the first nine tenths for training, the rest to validate.

    Line breaks of any system become "\\n", and a byte-order mark at the beginning is left out.
    Tokens take 2 bytes a character (4 with more than 32,768 symbols), so that long texts fit into
    memory; a text that takes more than a second shows how far it has come.

    Parameters
    ----------
    name : str
        What the corpus is called.
    text : str
        At least 4 characters, of any script.

    Returns
    -------
    Corpus
        Its vocabulary holds every symbol of the text; each split, at least 2 tokens.

    Raises
    ------
    CorpusTooShortError
        If the text is too short for two splits.
    TypeError
        If it is no str.
    """
    check_text(text)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if len(text) < 4:
        raise CorpusTooShortError(
            f"the text {text!r} has {len(text)} characters: each of two splits needs a token and "
            "one that follows it, so give at least 4"
        )
    return contiguous(name, text, compact=True)
