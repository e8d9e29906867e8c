"""A vocabulary: which symbols there are, and the number that stands for each."""

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from course_lib.errors import ShapeError, UnknownSymbolError

# In this encoding every symbol takes four bytes, so that a string becomes an array of code points.
# "surrogatepass" lets half of a surrogate pair through, which a Python string may hold.
_ENCODING, _ERRORS, _CODE = "utf-32-le", "surrogatepass", np.dtype("<u4")

# A long text is read in pieces of so many characters: then only its tokens take room.
_PIECE = 2**20


class Vocabulary:
    """The symbols of a text, numbered from 0 in the order of their code points.

    Parameters
    ----------
    symbols : str or iterable of str
        Single characters, in any order; a repeated one counts once.

    Raises
    ------
    ValueError
        If there is no symbol, or one that is not a single character.

    Examples
    --------
    >>> vocabulary = Vocabulary("hello")
    >>> vocabulary.symbols
    ('e', 'h', 'l', 'o')
    >>> vocabulary.encode("hole")
    tensor([1, 3, 2, 0])
    >>> vocabulary.decode([1, 3, 2, 0])
    'hole'
    """

    def __init__(self, symbols: Iterable[str]) -> None:
        self._symbols = tuple(sorted(set(symbols)))
        if not self._symbols:
            raise ValueError("a vocabulary needs at least one symbol, got none")
        for symbol in self._symbols:
            if len(symbol) != 1:
                raise ValueError(
                    f"a symbol is a single character, got {symbol!r} of length {len(symbol)}"
                )
        self._codes = _code_points("".join(self._symbols))
        # An entry for each code point up to the largest symbol's, and one for all larger ones. −1
        # means that the code point is not in the vocabulary.
        self._token_of_code = np.full(int(self._codes[-1]) + 2, -1, dtype=np.int64)
        self._token_of_code[self._codes] = np.arange(len(self._codes))

    @classmethod
    def of(cls, text: str) -> "Vocabulary":
        """The vocabulary of a text: every symbol that occurs in it, and no other.

        Parameters
        ----------
        text : str
            At least one character. Where a long one takes more than a second, a bar says how far
            it has come.

        Raises
        ------
        ValueError
            If the text is empty.
        TypeError
            If it is no str.
        """
        seen = np.zeros(sys.maxunicode + 1, dtype=np.bool_)
        for _, codes in _pieces(text, "symbols"):
            seen[codes] = True
        return cls(map(chr, np.flatnonzero(seen).tolist()))

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols, sorted; the token of a symbol is its place in this tuple."""
        return self._symbols

    def encode(self, text: str, *, compact: bool = False) -> Tensor:
        """Turn a text into tokens.

        Parameters
        ----------
        text : str
            N characters; an empty text gives an empty tensor.
        compact : bool
            Give int16, or int32 for more than 32,768 symbols: a quarter or half of the memory.

        Returns
        -------
        (N,) int64
            Token of every character, between 0 and V - 1.

        Raises
        ------
        UnknownSymbolError
            If the text holds a symbol that the vocabulary lacks. The message names the first one,
            where it is, and how many more there are.
        TypeError
            If the text is no str.
        """
        small = np.int16 if len(self) <= 2**15 else np.int32
        tokens = np.empty(len(text), dtype=small if compact else np.int64)
        unknown, first = 0, 0
        for start, codes in _pieces(text, "tokens"):
            piece = self._token_of_code[np.minimum(codes, len(self._token_of_code) - 1)]
            tokens[start : start + len(piece)] = piece
            if piece.min() < 0:
                first = first if unknown else start + int(np.argmax(piece < 0))
                unknown += int((piece < 0).sum())
        if unknown:
            raise UnknownSymbolError(self._explain_unknown(text, first, unknown - 1))
        return torch.from_numpy(tokens)

    def decode(self, tokens: Tensor | np.ndarray | Sequence[int]) -> str:
        """Turn tokens back into a text.

        Parameters
        ----------
        tokens : (N,) tensor, array or sequence of int
            Each between 0 and V - 1.

        Returns
        -------
        str
            N characters.

        Raises
        ------
        UnknownSymbolError
            If a token lies outside 0 … V - 1. Negative ones do not count from the end.
        ShapeError
            If the tokens are not one-dimensional: decode a batch row by row.
        TypeError
            If the tokens are not whole numbers (logits in place of tokens, for example).
        """
        array = tokens.detach().cpu().numpy() if isinstance(tokens, Tensor) else np.asarray(tokens)
        if array.ndim != 1:
            raise ShapeError(
                f"tokens must have one dimension, got shape {array.shape}; "
                "decode a batch row by row, and a single token t as [t]"
            )
        if array.size == 0:
            return ""
        if not np.issubdtype(array.dtype, np.integer):
            raise TypeError(f"tokens must be whole numbers, got {array.dtype}")
        V = len(self)
        unknown = np.flatnonzero((array < 0) | (array >= V))
        if len(unknown):
            raise UnknownSymbolError(
                f"token {array[unknown[0]]} at position {unknown[0]} stands for no symbol: "
                f"tokens lie between 0 and {V - 1}{_and_more(len(unknown) - 1, 'token')}"
            )
        return self._codes[array].tobytes().decode(_ENCODING, _ERRORS)

    def __len__(self) -> int:
        """V, the number of symbols."""
        return len(self._symbols)

    def __contains__(self, symbol: object) -> bool:
        """Whether this character has a token."""
        return symbol in self._symbols

    def __eq__(self, other: object) -> bool:
        """Equal when the symbols are."""
        return isinstance(other, Vocabulary) and self._symbols == other._symbols

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self._symbols)

    def __repr__(self) -> str:
        """The number of symbols and the symbols themselves."""
        shown = "".join(self._symbols[:80]) + ("…" if len(self) > 80 else "")
        return f"Vocabulary({len(self)} symbols: {shown!r})"

    def _explain_unknown(self, text: str, first: int, more: int) -> str:
        symbol = text[first]
        name = unicodedata.name(symbol, "")
        line = text.count("\n", 0, first) + 1
        column = first - text.rfind("\n", 0, first)
        return (
            f"symbol {symbol!r} (U+{ord(symbol):04X}{' ' if name else ''}{name}) "
            f"at position {first} (line {line}, column {column}) is not one of the {len(self)} "
            f"symbols of the vocabulary{_and_more(more, 'symbol')}. "
            "Leave it out of the text, or build the vocabulary from a text that has it."
        )


def check_text(text: object) -> None:
    """Refuse what is no str, and say how it becomes one."""
    if not isinstance(text, str):
        raise TypeError(
            f"a text is a str, got {type(text).__name__}: bytes become one by "
            '.decode("utf-8"), and a file becomes a corpus by data.of_file(path)'
        )


def _pieces(text: str, doing: str) -> Iterator[tuple[int, np.ndarray]]:
    """Where each piece of a text begins, and its code points."""
    check_text(text)
    starts: Iterable[int] = range(0, len(text), _PIECE)
    if len(text) > _PIECE:
        import tqdm

        # On stdout, because a graded notebook loses the points of a cell that writes on stderr.
        starts = tqdm.tqdm(
            starts, doing, unit="M characters", leave=False, delay=1, file=sys.stdout
        )
    for start in starts:
        yield start, _code_points(text[start : start + _PIECE])


def _code_points(text: str) -> np.ndarray:
    """(N,) uint32: the code point of every character."""
    return np.frombuffer(text.encode(_ENCODING, _ERRORS), dtype=_CODE)


def _and_more(count: int, noun: str) -> str:
    if count == 0:
        return ""
    return f"; {count:,} more unknown {noun}{'s follow' if count > 1 else ' follows'}"
