"""A vocabulary: which symbols there are, and the number that stands for each."""

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from course_lib.errors import ShapeError, UnknownSymbolError

# In this encoding every symbol takes four bytes, so that a string becomes an array of code points.
# "surrogatepass" lets half of a surrogate pair through, which a Python string may hold.
_ENCODING, _ERRORS, _CODE = "utf-32-le", "surrogatepass", np.dtype("<u4")


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
            At least one character.

        Raises
        ------
        ValueError
            If the text is empty.
        """
        return cls(text)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols, sorted; the token of a symbol is its place in this tuple."""
        return self._symbols

    def encode(self, text: str) -> Tensor:
        """Turn a text into tokens.

        Parameters
        ----------
        text : str
            N characters; an empty text gives an empty tensor.

        Returns
        -------
        (N,) int64
            Token of every character, between 0 and V - 1.

        Raises
        ------
        UnknownSymbolError
            If the text holds a symbol that the vocabulary lacks. The message names the first one,
            where it is, and how many more there are.
        """
        codes = _code_points(text)
        tokens = self._token_of_code[np.minimum(codes, len(self._token_of_code) - 1)]
        if len(tokens) and tokens.min() < 0:
            raise UnknownSymbolError(self._explain_unknown(text, np.flatnonzero(tokens < 0)))
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

    def _explain_unknown(self, text: str, positions: np.ndarray) -> str:
        first = int(positions[0])
        symbol = text[first]
        name = unicodedata.name(symbol, "")
        line = text.count("\n", 0, first) + 1
        column = first - text.rfind("\n", 0, first)
        return (
            f"symbol {symbol!r} (U+{ord(symbol):04X}{' ' if name else ''}{name}) "
            f"at position {first} (line {line}, column {column}) is not one of the {len(self)} "
            f"symbols of the vocabulary{_and_more(len(positions) - 1, 'symbol')}. "
            "Leave it out of the text, or build the vocabulary from a text that has it."
        )


def _code_points(text: str) -> np.ndarray:
    """(N,) uint32: the code point of every character."""
    return np.frombuffer(text.encode(_ENCODING, _ERRORS), dtype=_CODE)


def _and_more(count: int, noun: str) -> str:
    if count == 0:
        return ""
    return f"; {count:,} more unknown {noun}{'s follow' if count > 1 else ' follows'}"
