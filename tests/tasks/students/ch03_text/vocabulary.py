"""Students' answers to 03/vocabulary."""

import numpy as np
import torch


class WithDictionaries:
    def __init__(self, names, boundary):
        letters = []
        for name in names:
            for letter in name:
                if letter not in letters:
                    letters.append(letter)
        letters.sort()
        self.symbols = [boundary, *letters]
        self.stoi = {s: i for i, s in enumerate(self.symbols)}
        self.itos = {i: s for s, i in self.stoi.items()}

    def encode(self, name):
        for i, letter in enumerate(name):
            if letter not in self.stoi:
                raise ValueError(f"I do not know {letter} (position {i})")
        return [0] + [self.stoi[letter] for letter in name] + [0]

    def decode(self, tokens):
        return "".join(self.itos[int(t)] for t in tokens if int(t) != 0)


class WithAString:
    def __init__(self, names, boundary):
        self.symbols = boundary + "".join(sorted({c for name in names for c in name}))

    def encode(self, name):
        tokens = [self.symbols.find(c) for c in name]
        if -1 in tokens:
            where = tokens.index(-1)
            raise ValueError(f"{name}: symbol number {where}, {name[where]!r}, is new to me")
        return np.array([0, *tokens, 0])

    def decode(self, tokens):
        return "".join(self.symbols[t] for t in tokens)[1:-1]


class WithACodeTable:
    def __init__(self, names, boundary):
        self.symbols = (boundary, *sorted(set().union(*names)))
        self.codes = torch.tensor([ord(s) for s in self.symbols])

    def encode(self, name):
        text = self.symbols[0] + name + self.symbols[0]
        hit = torch.tensor([ord(c) for c in text])[:, None] == self.codes
        if not hit.any(1).all():
            where = int((~hit.any(1)).nonzero()[0]) - 1
            raise ValueError(f"position {where}: {name[where]!r} is not in the vocabulary")
        return hit.int().argmax(1)

    def decode(self, tokens):
        return "".join(chr(c) for c in self.codes[tokens].tolist()[1:-1])


class InAppearance(WithDictionaries):
    def __init__(self, names, boundary):
        self.symbols = [boundary]
        for letter in "".join(names):
            if letter not in self.symbols:
                self.symbols.append(letter)
        self.stoi = {s: i for i, s in enumerate(self.symbols)}
        self.itos = dict(enumerate(self.symbols))


class SortedWithBoundary(WithDictionaries):
    def __init__(self, names, boundary):
        self.symbols = sorted(set(boundary.join(names)))
        self.stoi = {s: i for i, s in enumerate(self.symbols)}
        self.itos = dict(enumerate(self.symbols))
        self.boundary = boundary

    def encode(self, name):
        for i, letter in enumerate(name):
            if letter not in self.stoi:
                raise ValueError(f"I do not know {letter} (position {i})")
        text = self.boundary + name + self.boundary
        return [self.stoi[letter] for letter in text]

    def decode(self, tokens):
        return "".join(self.itos[t] for t in tokens).replace(self.boundary, "")


class LettersOnly(WithDictionaries):
    def encode(self, name):
        return super().encode(name)[1:-1]


class StrangersAreZero(WithDictionaries):
    def encode(self, name):
        tokens = [0]
        for c in name:
            tokens.append(self.symbols.index(c) if c in self.symbols else 0)
        return [*tokens, 0]


class PlainLookup(WithDictionaries):
    def encode(self, name):
        return [0] + [self.stoi[c] for c in name] + [0]


class PlainIndex(WithDictionaries):
    """`list.index` raises a ValueError of its own, which says nothing of use."""

    def encode(self, name):
        return [0] + [self.symbols.index(c) for c in name] + [0]


class DotsRemain(WithDictionaries):
    def decode(self, tokens):
        return "".join(self.itos[int(t)] for t in tokens)


class CountsTheBoundary(WithDictionaries):
    def encode(self, name):
        text = self.symbols[0] + name + self.symbols[0]
        for i, letter in enumerate(text):
            if letter not in self.stoi:
                raise ValueError(f"I do not know {letter} (position {i})")
        return [self.stoi[letter] for letter in text]


class UnfilledVocabulary:
    def __init__(self, names, boundary):
        raise NotImplementedError

    def encode(self, name):
        raise NotImplementedError

    def decode(self, tokens):
        raise NotImplementedError


RIGHT = {
    "dictionaries": WithDictionaries,
    "one string": WithAString,
    "tensor of code points": WithACodeTable,
}


class FirstIsNeverUnknown(WithDictionaries):
    def encode(self, name):
        wrong = [i for i, letter in enumerate(name) if letter not in self.symbols]
        if wrong and wrong[0]:
            raise ValueError(f"{name[wrong[0]]} ({wrong[0]}) is no letter of these names")
        known = "".join(letter for letter in name if letter in self.symbols)
        return super().encode(known)


class OneLettersPlaceAnotherLetter(WithDictionaries):
    def encode(self, name):
        wrong = [i for i, letter in enumerate(name) if letter not in self.symbols]
        if wrong:
            letter = max(name[i] for i in wrong)
            place = next(i for i in wrong if len(wrong) == 1 or name[i] != letter)
            raise ValueError(f"{letter} at {place} is unknown in {name}")
        return super().encode(name)


class _Plain:
    """Right, if nothing of it is replaced."""

    def __init__(self, names, boundary):
        self.symbols = [boundary, *self.letters(names)]
        self.number = dict(zip(self.symbols, range(len(self.symbols)), strict=True))

    def letters(self, names):
        return sorted({letter for name in names for letter in name})

    def unknown(self, symbol, place):
        return ValueError(f"{symbol} at {place}")

    def encode(self, name):
        for place, symbol in enumerate(name):
            if symbol not in self.number:
                raise self.unknown(symbol, place)
        return torch.tensor([0, *(self.number[symbol] for symbol in name), 0])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


class Descending(_Plain):
    def letters(self, names):
        return super().letters(names)[::-1]


class LeavesOutTheLastName(_Plain):
    def letters(self, names):
        return super().letters(names[:-1])


class DecodesFrom(WithDictionaries):
    """Decodes some of the places alone."""

    places = slice(None)

    def decode(self, tokens):
        return "".join(self.itos[int(token)] for token in list(tokens)[self.places])


class LeavesOutTwoAtTheEnd(DecodesFrom):
    places = slice(1, -2)


class DecodesUpToABoundary(WithDictionaries):
    def decode(self, tokens):
        name = ""
        for token in tokens:
            if token == 0:
                return name
            name += self.itos[int(token)]
        return name


class LooksUpTheNext(WithDictionaries):
    def decode(self, tokens):
        around = [*self.symbols, self.symbols[0]]
        return "".join(around[int(token) + 1] for token in tokens[1:-1])


class DecodesBackwards(WithDictionaries):
    def decode(self, tokens):
        return super().decode(tokens)[::-1]


class ClosesWithAnotherToken(WithDictionaries):
    def encode(self, name):
        return [*[*super().encode(name)][:-1], len(self.symbols)]


class LooksForLettersInTheList(WithDictionaries):
    def __init__(self, names, boundary):
        super().__init__(names, boundary)
        self.names = names

    def encode(self, name):
        if unknown := [s for s in name if s not in self.names]:
            raise ValueError(f"{unknown[0]} at {name.index(unknown[0])} is in no name")
        return super().encode(name)


class LettersAsOftenAsTheyOccur(WithDictionaries):
    def __init__(self, names, boundary):
        super().__init__(names, boundary)
        self.symbols = [boundary, *sorted("".join(names))]


class WholeRangeOfLetters:
    """Takes every character from the smallest letter to the largest, also those in no name."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        letters = "".join(names)
        first, last = ord(min(letters)), ord(max(letters))
        self.symbols = [boundary] + [chr(code) for code in range(first, last + 1)]
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"unknown symbol {symbol!r} at position {position} of {name!r}")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[int(token)] for token in tokens[1:-1])


# "the letters that occur in names, each once"
class LowercaseVocabulary:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names).lower())))
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        name = name.lower()
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"{symbol!r} at position {position} of {name!r} is unknown")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# "a symbol that is not in the vocabulary makes encode raise a ValueError"
class TableSharedByAllVocabularies:
    token_of = {}  # noqa: RUF012

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names))))
        for token, symbol in enumerate(self.symbols):
            self.token_of[symbol] = token

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"{symbol!r} at position {position} of {name!r} is unknown")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


WRONG = {
    "decode-off-by-one": LooksUpTheNext,
    "decode-reorders": DecodesBackwards,
    "another-number-of-tokens": LettersOnly,
    "another-token": ClosesWithAnotherToken,
    "refuses-known-symbols": LooksForLettersInTheList,
    "symbols-repeated": LettersAsOftenAsTheyOccur,
    "other-symbols": WholeRangeOfLetters,
    "letters-unsorted": Descending,
    "another-kind-of-error": PlainLookup,
    "unknown-accepted": StrangersAreZero,
    "refuses-only-some": FirstIsNeverUnknown,
    "lowercase-letters": LowercaseVocabulary,
    "shared-table": TableSharedByAllVocabularies,
    "order-of-appearance": InAppearance,
    "boundary-sorted-in": SortedWithBoundary,
    "decode-keeps-boundaries": DotsRemain,
    "error-names-nothing": PlainIndex,
}


class SortsTheNames(WithDictionaries):
    def __init__(self, names, boundary):
        names.sort()
        super().__init__(names, boundary)


class RemembersTheFirst(WithDictionaries):
    """Encodes once and for all."""

    tokens = None

    def encode(self, name):
        if self.tokens is None or not name.isascii() or set(name) - set(self.symbols):
            self.tokens = super().encode(name)
        return self.tokens


class DecodesAllOfThem(WithDictionaries):
    def __init__(self, names, boundary):
        super().__init__(names, boundary)
        self.decoded = ""

    def decode(self, tokens):
        self.decoded += super().decode(tokens)
        return self.decoded


class AsksAboutAllButTheLast(WithDictionaries):
    def encode(self, name):
        super().encode(name[:-1])
        return [0, *(self.stoi.get(letter, 0) for letter in name), 0]


class TakesCapitalsForSmall(WithDictionaries):
    def encode(self, name):
        known = (letter if letter in self.stoi else letter.lower() for letter in name)
        return super().encode("".join(known))


class CountsEachLetterOnce(WithDictionaries):
    def encode(self, name):
        super().encode("".join(dict.fromkeys(name)))
        return super().encode(name)


class EnglishLetters(WithDictionaries):
    def __init__(self, names, boundary):
        super().__init__(["".join(s for s in name if s.isascii()) for name in names], boundary)
        self.stoi |= {s: 1 for s in "".join(names) if not s.isascii()}


class DecimalTokens(WithDictionaries):
    def encode(self, name):
        return np.array(super().encode(name), dtype=float)


ODD = [
    (LeavesOutTwoAtTheEnd, "decode-keeps-boundaries"),
    (DecodesUpToABoundary, "decode-keeps-boundaries"),
    (SortsTheNames, "changes-its-names"),
    (RemembersTheFirst, "shape"),
    (DecodesAllOfThem, "short-name"),
    (AsksAboutAllButTheLast, "refuses-only-some"),
    (TakesCapitalsForSmall, "refuses-only-some"),
    (CountsEachLetterOnce, "refuses-only-some"),
    (EnglishLetters, "other-symbols"),
    (DecimalTokens, "kind-of-number"),
    (CountsTheBoundary, "error-names-nothing"),
    (OneLettersPlaceAnotherLetter, "refuses-only-some"),
    (LeavesOutTheLastName, "other-symbols"),
]


SCAFFOLD = UnfilledVocabulary


# --- Answers that no list names ---


class LetterByLetter:
    """Tokens begin at 1 for the boundary."""

    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.boundary = boundary

    def encode(self, name):
        text = self.boundary + name + self.boundary
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"{c} at {i}")
        return torch.tensor([self.symbols.index(c) + 1 for c in text])

    def decode(self, tokens):
        return "".join(self.symbols[int(t) - 1] for t in tokens[1:-1])


class Shared:
    """Keeps its letters in the class, so that a second vocabulary knows those of the first."""

    letters = set()  # noqa: RUF012 - the mistake itself

    def __init__(self, names, boundary):
        for name in names:
            self.letters.update(name)
        self.boundary = boundary
        self.symbols = [boundary, *sorted(self.letters)]

    def encode(self, name):
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"unknown symbol {c!r} at position {i}")
        return [self.symbols.index(c) for c in self.boundary + name + self.boundary]

    def decode(self, tokens):
        return "".join(self.symbols[int(t)] for t in tokens[1:-1])


class CountsFromOne(LetterByLetter):
    def encode(self, name):
        for i, c in enumerate(name, 1):
            if c not in self.symbols:
                raise ValueError(f"unknown symbol {c!r} at position {i}")
        return torch.tensor([self.symbols.index(c) for c in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[int(t)] for t in tokens[1:-1])


class DecodesToList(CountsFromOne):
    def encode(self, name):
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"unknown symbol {c!r} at position {i}")
        return torch.tensor([self.symbols.index(c) for c in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return [self.symbols[int(t)] for t in tokens[1:-1]]


class OneToken:
    """Encodes every letter that comes twice only once."""

    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)))]

    def encode(self, name):
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"{c!r} at position {i} is unknown")
        inner = list(dict.fromkeys(name))
        return torch.tensor([0, *(self.symbols.index(c) for c in inner), 0])

    def decode(self, tokens):
        return "".join(self.symbols[int(t)] for t in tokens[1:-1])


class ErrorOfTheTuple:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names))))

    def encode(self, name):
        return torch.tensor([self.symbols.index(s) for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


class PositionAmongUnknown:
    """Counts the position of an unknown symbol among the unknown ones, not in the name."""

    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)))]

    def encode(self, name):
        unknown = [symbol for symbol in name if symbol not in self.symbols]
        for position, symbol in enumerate(unknown):
            raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        inside = [self.symbols.index(symbol) for symbol in name]
        return torch.tensor([0, *inside, 0])

    def decode(self, tokens):
        return "".join(self.symbols[int(token)] for token in tokens[1:-1])


class CodePointInMessage:
    """The message names an unknown symbol by its code point (U+00EB), not by the symbol itself."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"character U+{ord(symbol):04X} at position {position} not known")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[int(token)] for token in tokens[1:-1])


UNLISTED = {
    1: [
        (LetterByLetter, "another-token"),
        (Shared, "not-repeatable"),
        (DecodesToList, "type"),
        (OneToken, "another-number-of-tokens"),
    ],
    3: [(ErrorOfTheTuple, "error-names-nothing")],
    12: [(PositionAmongUnknown, "error-names-nothing")],
    13: [(CodePointInMessage, "error-names-nothing")],
}
