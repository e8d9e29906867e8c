"""How the tasks of chapter 03 are judged: right answers, and the wrong ones that people give.

Answers stand here as a student writes them: without annotations, and free to ignore what they are
given.
"""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001, D102

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as F

from course_lib.tasks.answers import Array, input_text
from course_lib.tasks.judging import Evidence, Mistake, Part, Task, matches
from course_lib.tasks.verdict import Finding, Section

_CHAPTER = "03-text"
ENCODE = Section(_CHAPTER, "Encode and decode")
UNKNOWN = Section(_CHAPTER, "A symbol that nobody knows")
TARGET = Section(_CHAPTER, "Context and target")
EXAMPLES = Section(_CHAPTER, "One row is many examples")
RANDOM = Section(_CHAPTER, "Random windows, one gather")
CONTINUE = Section(_CHAPTER, "Windows that continue each other")
ONCE = Section(_CHAPTER, "Every target once")
SPLITS = Section(_CHAPTER, "What must not be in both splits")

IGNORED = -100


# vocabulary


class NameVocabulary:
    """A right answer."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names)) - {boundary}))
        self.token = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token:
                raise ValueError(f"unknown symbol {symbol!r} at position {position} of {name!r}")
        return torch.tensor([self.token[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens).strip(self.boundary)


class _OrderOfAppearance(NameVocabulary):
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = tuple(dict.fromkeys(boundary + "".join(names)))
        self.token = {symbol: token for token, symbol in enumerate(self.symbols)}


class _BoundarySortedIn(NameVocabulary):
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = tuple(sorted(set("".join(names) + boundary)))
        self.token = {symbol: token for token, symbol in enumerate(self.symbols)}


class _NoBoundaries(NameVocabulary):
    def encode(self, name):
        return super().encode(name)[1:-1]


class _NoClosingBoundary(NameVocabulary):
    def encode(self, name):
        return super().encode(name)[:-1]


class _UnknownDropped(NameVocabulary):
    def encode(self, name):
        return super().encode("".join(s for s in name if s in self.token))


class _UnknownToZero(NameVocabulary):
    def encode(self, name):
        return torch.tensor([self.token.get(s, 0) for s in self.boundary + name + self.boundary])


class _KeyErrorOnly(NameVocabulary):
    def encode(self, name):
        return torch.tensor([self.token[s] for s in self.boundary + name + self.boundary])


class _ErrorNamesNothing(NameVocabulary):
    def encode(self, name):
        if set(name) - set(self.symbols):
            raise ValueError("the name holds an unknown symbol")
        return super().encode(name)


class _DecodeKeepsBoundaries(NameVocabulary):
    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens)


def _refusal_names_symbol_and_place(evidence: Evidence) -> bool:
    words = evidence.answers.values["refuses"]
    return (
        isinstance(words, str)
        and input_text(evidence.inputs["unknown"]) in words
        and int(evidence.inputs["place"][0]) in map(int, re.findall(r"\d+", words))
    )


def _bad(evidence: Evidence) -> str:
    """The name with an unknown symbol and where it is, for a sentence."""
    return (
        f"`{input_text(evidence.inputs['bad'])}` holds "
        f"`{input_text(evidence.inputs['unknown'])}` at position {int(evidence.inputs['place'][0])}"
    )


def _symbols(evidence: Evidence) -> str:
    return str(evidence.answers.values["symbols"])


VOCABULARY = Task(
    "A vocabulary for names",
    NameVocabulary,
    ENCODE,
    (
        Part("The boundary is token 0 and the letters follow in order.", 1, matches("symbols")),
        Part("A name is encoded between two boundaries.", 1, matches("encode")),
        Part("Decoding gives the name back, without boundaries.", 1, matches("decode")),
        Part(
            "An unknown symbol is refused, with its position.", 1, _refusal_names_symbol_and_place
        ),
    ),
    (
        Mistake(
            "order-of-appearance",
            _OrderOfAppearance,
            "Your symbols stand in the order in which they first appear.",
            lambda e: (
                f"They are `{_symbols(e)}`. The same names in another order would give every "
                "letter another token, and a trained table would no longer fit. "
                "Sort the letters."
            ),
            ENCODE,
            cases=("symbols",),
        ),
        Mistake(
            "boundary-sorted-in",
            _BoundarySortedIn,
            "The boundary was sorted in among the letters.",
            lambda e: (
                f"Your symbols are `{_symbols(e)}`: "
                f"`{input_text(e.inputs['boundary'])}` comes after `z` in the order of code "
                f"points, so it is token {len(_symbols(e)) - 1}. The task wants it as token 0, "
                "whatever symbol it is."
            ),
            ENCODE,
            cases=("symbols",),
        ),
        Mistake(
            "boundaries-forgotten",
            _NoBoundaries,
            "Your encoding holds the letters alone, with no boundary.",
            lambda e: (
                f"`{input_text(e.inputs['name'])}` became {len(e.yours('encode'))} tokens; with a "
                f"boundary on each side there are {len(e.right('encode'))}. Without them a model "
                "never sees where names begin and end."
            ),
            ENCODE,
            cases=("encode",),
        ),
        Mistake(
            "no-closing-boundary",
            _NoClosingBoundary,
            "Your encoding has no boundary at the end.",
            lambda e: (
                f"The last token for `{input_text(e.inputs['name'])}` is "
                f"{int(e.yours('encode')[-1])}, a letter. The boundary after the name is the "
                "target that teaches a model to stop."
            ),
            ENCODE,
            cases=("encode",),
        ),
        Mistake(
            "decode-keeps-boundaries",
            _DecodeKeepsBoundaries,
            "Your decoding leaves the boundaries in.",
            lambda e: (
                f"It gives `{e.answers.values['decode']}` back for "
                f"`{input_text(e.inputs['name'])}`, so decode does not undo encode."
            ),
            ENCODE,
            cases=("decode",),
        ),
        Mistake(
            "unknown-dropped",
            _UnknownDropped,
            "An unknown symbol is left out without a word.",
            lambda e: (
                f"{_bad(e)}, and your encoding has the length of a name without it: "
                f"{len(e.yours('refuses'))} tokens. A silent gap is found weeks later, if ever. "
                "Raise a `ValueError`."
            ),
            UNKNOWN,
            cases=("refuses",),
        ),
        Mistake(
            "unknown-to-zero",
            _UnknownToZero,
            "An unknown symbol becomes token 0.",
            lambda e: (
                f"{_bad(e)}, which your encoding turns into the boundary: the name now reads as "
                "two names. Raise a `ValueError`."
            ),
            UNKNOWN,
            cases=("refuses",),
        ),
        Mistake(
            "key-error-only",
            _KeyErrorOnly,
            "An unknown symbol ends in a `KeyError`.",
            lambda e: (
                f"{_bad(e)}. The error of a dictionary shows the symbol and not where it is. "
                "Raise a `ValueError` that says both."
            ),
            UNKNOWN,
            cases=("refuses",),
        ),
        Mistake(
            "error-names-nothing",
            _ErrorNamesNothing,
            "Your error does not say which symbol it is and at which position.",
            lambda e: (
                f"{_bad(e)}, counted from 0 at the first letter; your error says "
                f"“{e.answers.values['refuses']}”. In a long text nobody finds it from that."
            ),
            UNKNOWN,
            recognised=lambda e: (
                isinstance(e.answers.values["refuses"], str)
                and e.same("symbols", "encode", "decode")
                and not _refusal_names_symbol_and_place(e)
            ),
        ),
    ),
)


# windows


def windows(tokens, block_size, stride):
    """A right answer."""
    rows = tokens.unfold(0, block_size + 1, stride)  # (M, T+1)
    return rows[:, :-1], rows[:, 1:]


def _unshifted(tokens, block_size, stride):
    x, _ = windows(tokens, block_size, stride)
    return x, x.clone()


def _shifted_backwards(tokens, block_size, stride):
    x, y = windows(tokens, block_size, stride)
    return y, x


def _next_row_as_target(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size, stride)
    return rows[:-1], rows[1:]


def _last_window_dropped(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size - 1, stride)
    x = torch.stack([tokens[s : s + block_size] for s in starts])
    return x, torch.stack([tokens[s + 1 : s + block_size + 1] for s in starts])


def _past_the_end(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size + 1, stride)
    x = torch.stack([tokens[s : s + block_size] for s in starts])
    return x, torch.stack([tokens[s + 1 : s + block_size + 1] for s in starts])


def _wraps_around(tokens, block_size, stride):
    return (
        tokens.unfold(0, block_size, stride),
        torch.roll(tokens, -1).unfold(0, block_size, stride),
    )


def _stride_ignored(tokens, block_size, stride):
    return windows(tokens, block_size, 1)


def _stride_is_block_size(tokens, block_size, stride):
    return windows(tokens, block_size, block_size)


def _one_target_a_window(tokens, block_size, stride):
    x, y = windows(tokens, block_size, stride)
    return x, y[:, -1]


def _successors(tokens: Array) -> dict[int, int]:
    """Token to the token after it; tokens do not repeat."""
    return dict(zip(tokens[:-1].tolist(), tokens[1:].tolist(), strict=True))


def _targets_follow(evidence: Evidence) -> bool:
    """True of any windows, as long as each target is the token after its input."""
    T = evidence.number("block_size")
    for case, tokens in (("exact", "tokens"), ("longer", "longer")):
        x, y = evidence.yours(f"{case}.x"), evidence.yours(f"{case}.y")
        after = _successors(evidence.inputs[tokens])
        if x.shape != y.shape or x.ndim != 2 or not x.size or x.shape[1] != T:
            return False
        if [after.get(int(token)) for token in x.flat] != [int(token) for token in y.flat]:
            return False
    return True


def _not_the_next_token(
    inputs: str, targets: str, tokens: str
) -> Callable[[Evidence], Finding | None]:
    """A property: where inputs are right, a counted target must be the token after its input."""

    def ask(evidence: Evidence) -> Finding | None:
        x, y = evidence.yours(inputs), evidence.yours(targets)
        after = _successors(evidence.inputs[tokens])
        for a, b in zip(x.flat, y.flat, strict=True):
            right = after.get(int(a))
            if right is not None and int(b) not in (right, IGNORED):
                return Finding(
                    "not-the-next-token",
                    "A target is not the token that follows its input.",
                    f"Your input {int(a)} has the target {int(b)}; in the text, {int(a)} is "
                    f"followed by {right}.",
                    TARGET,
                )
        return None

    return ask


def _row(row: Array) -> str:
    return " ".join("−100" if value == IGNORED else f"{value:g}" for value in row)


def _first_rows(case: str) -> Callable[[Evidence], str]:
    return lambda e: (
        f"Your first row of inputs is `{_row(e.yours(f'{case}.x')[0])}` and its targets are "
        f"`{_row(e.yours(f'{case}.y')[0])}`."
    )


WINDOWS = Task(
    "Windows with a stride",
    windows,
    TARGET,
    (
        Part("Each target is the token that follows its input.", 2, _targets_follow),
        Part("Every window that fits is there, and no other.", 2, matches("exact.x", "longer.x")),
    ),
    (
        Mistake(
            "unshifted-targets",
            _unshifted,
            "Your targets are the inputs themselves.",
            lambda e: (
                f"{_first_rows('exact')(e)} A model that copies its input would have a loss of 0 "
                f"and predict nothing; the target of {int(e.right('exact.x')[0, 0])} is "
                f"{int(e.right('exact.y')[0, 0])}."
            ),
            TARGET,
        ),
        Mistake(
            "shifted-backwards",
            _shifted_backwards,
            "Your targets are shifted the wrong way: each is the token before its input.",
            lambda e: (
                f"{_first_rows('exact')(e)} This asks a model to remember, not to predict. "
                "Inputs and targets are exchanged."
            ),
            TARGET,
        ),
        Mistake(
            "next-row-as-target",
            _next_row_as_target,
            "Your targets are the inputs of the next window.",
            lambda e: (
                f"{_first_rows('exact')(e)} They are {e.number('stride')} tokens further, "
                "one stride; the target of an input is one token further."
            ),
            TARGET,
        ),
        Mistake(
            "one-target-a-window",
            _one_target_a_window,
            "You give each window one target: the token after its end.",
            lambda e: (
                f"Your targets have shape {e.yours('exact.y').shape}. Every one of the "
                f"{e.number('block_size')} positions of a row has a target of its own, so the "
                f"shape is {e.right('exact.y').shape}."
            ),
            EXAMPLES,
        ),
        Mistake(
            "last-window-dropped",
            _last_window_dropped,
            "Your last window is missing.",
            lambda e: (
                f"{len(e.inputs['tokens'])} tokens hold {len(e.right('exact.x'))} windows and you "
                f"return {len(e.yours('exact.x'))}. The last one begins at "
                f"{len(e.inputs['tokens']) - e.number('block_size') - 1} = N − T − 1, and its "
                "last target is the last token. A `range` stops before its end."
            ),
            TARGET,
        ),
        Mistake(
            "reads-past-the-end",
            _past_the_end,
            "Your last window reads past the end of the tokens.",
            lambda e: (
                f"With N = {len(e.inputs['longer'])}, T = {e.number('block_size')} and "
                f"stride = {e.number('stride')} a window of inputs still fits at "
                f"{len(e.inputs['longer']) - e.number('block_size')}, but its last target would "
                f"stand at {len(e.inputs['longer'])}, where there is none: a slice comes out one "
                "short, and an index is out of range."
            ),
            TARGET,
            recognised=lambda e: (
                "longer" in e.answers.errors
                and not e.answers.errors["longer"].not_attempted
                and "exact" not in e.answers.errors
            ),
        ),
        Mistake(
            "wraps-around",
            _wraps_around,
            "Your last target wraps around to the beginning of the text.",
            lambda e: (
                f"`torch.roll` puts the first token, {int(e.inputs['longer'][0])}, behind the "
                f"last one, {int(e.inputs['longer'][-1])}; your last row of targets is "
                f"`{_row(e.yours('longer.y')[-1])}`. Nothing follows the last token: "
                "that window has to go."
            ),
            TARGET,
        ),
        Mistake(
            "stride-ignored",
            _stride_ignored,
            "Your windows begin at every token.",
            lambda e: (
                f"You return {len(e.yours('exact.x'))} windows; with stride = "
                f"{e.number('stride')} there are {len(e.right('exact.x'))}."
            ),
            TARGET,
            cases=("exact.x", "longer.x"),
        ),
        Mistake(
            "stride-is-block-size",
            _stride_is_block_size,
            "Your windows begin every T tokens, whatever the stride.",
            lambda e: (
                f"Your second window begins with {int(e.yours('exact.x')[1, 0])}, which is at "
                f"position {e.number('block_size')}; with stride = {e.number('stride')} it begins "
                f"with {int(e.right('exact.x')[1, 0])}."
            ),
            TARGET,
            cases=("exact.x", "longer.x"),
        ),
    ),
    (_not_the_next_token("exact.x", "exact.y", "tokens"),),
)


# batch


def batch_ending_at(tokens, ends, block_size, padding):
    """A right answer."""
    positions = ends[:, None] + torch.arange(1 - block_size, 1)  # (B, T)
    x = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    y = torch.where(positions < -1, IGNORED, tokens[(positions + 1).clamp(min=0)])
    return x, y


def _positions(ends, block_size):
    return ends[:, None] + torch.arange(1 - block_size, 1)


def _unshifted_batch(tokens, ends, block_size, padding):
    x, _ = batch_ending_at(tokens, ends, block_size, padding)
    return x, torch.where(_positions(ends, block_size) < 0, IGNORED, x)


def _wraps_to_the_end(tokens, ends, block_size, padding):
    positions = _positions(ends, block_size)
    return tokens[positions], tokens[positions + 1]


def _repeats_the_first(tokens, ends, block_size, padding):
    positions = _positions(ends, block_size)
    return tokens[positions.clamp(min=0)], tokens[(positions + 1).clamp(min=0)]


def _end_excluded(tokens, ends, block_size, padding):
    return batch_ending_at(tokens, ends - 1, block_size, padding)


def _newest_first(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    return x.flip(1), y.flip(1)


def _padded_on_the_right(tokens, ends, block_size, padding):
    x = torch.full((len(ends), block_size), padding)
    y = torch.full((len(ends), block_size), IGNORED)
    for b, end in enumerate(ends.tolist()):
        first = max(0, end - block_size + 1)
        x[b, : end + 1 - first] = tokens[first : end + 1]
        y[b, : end + 1 - first] = tokens[first + 1 : end + 2]
    return x, y


def _first_token_never_learned(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    return x, torch.where(_positions(ends, block_size) < 0, IGNORED, y)


def _padding_is_a_target(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    return x, torch.where(y == IGNORED, padding, y)


def _targets_before_the_text(tokens, ends, block_size, padding):
    x, _ = batch_ending_at(tokens, ends, block_size, padding)
    return x, tokens[_positions(ends, block_size) + 1]


def _copies_inputs(evidence: Evidence) -> bool:
    """Targets equal the inputs wherever the inputs are tokens."""
    x, y = evidence.yours("batch.x"), evidence.yours("batch.y")
    known = _is_token(evidence)
    return evidence.same("batch.x") and x.shape == y.shape and bool((x == y)[known].all())


def _batch_part(value: str, chosen: Callable[[Evidence], Array]) -> Callable[[Evidence], bool]:
    """The answer equals the reference at the chosen (B, T) places."""

    def holds(evidence: Evidence) -> bool:
        if not evidence.comparable(value):
            return False
        return bool((evidence.yours(value) == evidence.right(value))[chosen(evidence)].all())

    return holds


def _is_token(evidence: Evidence) -> Array:
    return np.not_equal(evidence.right("batch.x"), evidence.number("padding"))


def _is_whole_row(evidence: Evidence) -> Array:
    return np.all(_is_token(evidence), axis=1)


def _short_row(evidence: Evidence) -> int:
    """The first row that begins before the text does."""
    return int(np.flatnonzero(~_is_whole_row(evidence))[0])


def _short_inputs(evidence: Evidence) -> str:
    b = _short_row(evidence)
    return (
        f"The row that ends at position {int(evidence.inputs['ends'][b])} should be "
        f"`{_row(evidence.right('batch.x')[b])}`; yours is `{_row(evidence.yours('batch.x')[b])}`."
    )


def _short_targets(evidence: Evidence) -> str:
    b = _short_row(evidence)
    return (
        f"The inputs `{_row(evidence.right('batch.x')[b])}` have the targets "
        f"`{_row(evidence.right('batch.y')[b])}`; yours are `{_row(evidence.yours('batch.y')[b])}`."
    )


BATCH = Task(
    "A batch of given endings",
    batch_ending_at,
    RANDOM,
    (
        Part(
            "A row holds the T tokens up to and including its end.",
            1,
            _batch_part("batch.x", _is_whole_row),
        ),
        Part(
            "What would lie before the text is padding.",
            1,
            _batch_part("batch.x", lambda e: ~_is_whole_row(e)),
        ),
        Part("Targets follow their inputs.", 1, _batch_part("batch.y", _is_whole_row)),
        Part(
            "Targets before the text are −100, and the first token is a target.",
            1,
            _batch_part("batch.y", lambda e: ~_is_whole_row(e)),
        ),
    ),
    (
        Mistake(
            "wraps-to-the-end",
            _wraps_to_the_end,
            "Positions before the text read from its end.",
            lambda e: (
                f"{_short_inputs(e)} A negative index counts from the end and raises no error, so "
                "the end of the text became the past of its beginning."
            ),
            RANDOM,
            cases=("batch.x",),
        ),
        Mistake(
            "repeats-the-first-token",
            _repeats_the_first,
            "Positions before the text repeat the first token.",
            lambda e: (
                f"{_short_inputs(e)} `clamp` alone turns every negative position into 0. "
                "Put `padding` where the position was negative."
            ),
            RANDOM,
            cases=("batch.x",),
        ),
        Mistake(
            "end-excluded",
            _end_excluded,
            "Your rows stop one token before their end.",
            lambda e: (
                f"Position {int(e.inputs['ends'][-1])} holds token "
                f"{int(e.right('batch.x')[-1, -1])}, which should be the last of its row; "
                f"yours ends with {int(e.yours('batch.x')[-1, -1])}. "
                "`torch.arange` leaves its end out."
            ),
            RANDOM,
            cases=("batch.x",),
        ),
        Mistake(
            "newest-first",
            _newest_first,
            "Your rows run backwards: the newest token stands first.",
            lambda e: (
                f"Your last row is `{_row(e.yours('batch.x')[-1])}` and should be "
                f"`{_row(e.right('batch.x')[-1])}`. A row is read like the text, from left to "
                "right. Let the steps rise from 1 − T to 0."
            ),
            RANDOM,
            cases=("batch.x",),
        ),
        Mistake(
            "padded-on-the-right",
            _padded_on_the_right,
            "Your padding stands on the right.",
            lambda e: (
                f"{_short_inputs(e)} The newest token belongs in the last column of every row, "
                "so what is missing is missing on the left."
            ),
            RANDOM,
            cases=("batch.x",),
        ),
        Mistake(
            "unshifted-targets",
            _unshifted_batch,
            "Your targets are the inputs themselves.",
            lambda e: (
                f"Your last row of inputs is `{_row(e.yours('batch.x')[-1])}` and its targets are "
                f"`{_row(e.yours('batch.y')[-1])}`. The last target should be "
                f"{int(e.right('batch.y')[-1, -1])}, the token after the end."
            ),
            TARGET,
            recognised=_copies_inputs,
        ),
        Mistake(
            "first-token-never-learned",
            _first_token_never_learned,
            "You ignore one target too many: the first token of the text.",
            lambda e: (
                f"{_short_targets(e)} The last padding has a successor inside the text: token "
                f"{int(e.inputs['tokens'][0])} at position 0. Predicting it from padding is how a "
                "model learns to begin."
            ),
            ONCE,
            cases=("batch.y",),
        ),
        Mistake(
            "padding-is-a-target",
            _padding_is_a_target,
            lambda e: f"Your targets hold the padding {e.number('padding')} where −100 belongs.",
            lambda e: (
                f"{_short_targets(e)} A loss would count them, and teach the model that padding "
                "follows padding."
            ),
            ONCE,
            cases=("batch.y",),
        ),
        Mistake(
            "targets-before-the-text",
            _targets_before_the_text,
            "Your inputs know where the text begins, your targets do not.",
            lambda e: (
                f"{_short_targets(e)} Positions of targets can be negative, too, and what is read "
                "there is not what follows. Put −100 where `positions + 1` is negative."
            ),
            RANDOM,
            recognised=lambda e: (
                bool(
                    np.where(
                        e.right("batch.y") == IGNORED,
                        e.yours("batch.y") != IGNORED,
                        e.yours("batch.y") == e.right("batch.y"),
                    ).all()
                )
                and e.comparable("batch.y")
            ),
        ),
    ),
)


# sequential


def sequential_windows(tokens, batch_size, block_size, padding):
    """A right answer."""
    length = -(-(len(tokens) - 1) // batch_size)  # L, rounded up
    steps = -(-length // block_size)  # S, rounded up

    def lay_out(row, filler):
        rows = F.pad(row, (0, batch_size * length - len(row)), value=filler).view(
            batch_size, length
        )
        rows = F.pad(rows, (0, steps * block_size - length), value=filler)  # (B, S·T)
        return rows.view(batch_size, steps, block_size).transpose(0, 1)  # (S, B, T)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], IGNORED)


def _rows_do_not_continue(tokens, batch_size, block_size, padding):
    missing = -(len(tokens) - 1) % (batch_size * block_size)
    x = F.pad(tokens[:-1], (0, missing), value=padding).view(-1, batch_size, block_size)
    y = F.pad(tokens[1:], (0, missing), value=IGNORED).view(-1, batch_size, block_size)
    return x, y


def _view_without_transpose(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    return x.transpose(0, 1).reshape(x.shape), y.transpose(0, 1).reshape(y.shape)


def _filled_at_the_end_only(tokens, batch_size, block_size, padding):
    missing = -(len(tokens) - 1) % (batch_size * block_size)
    x = F.pad(tokens[:-1], (0, missing), value=padding).view(batch_size, -1, block_size)
    y = F.pad(tokens[1:], (0, missing), value=IGNORED).view(batch_size, -1, block_size)
    return x.transpose(0, 1), y.transpose(0, 1)


def _leftover_dropped(tokens, batch_size, block_size, padding):
    steps = (len(tokens) - 1) // (batch_size * block_size)
    used = steps * batch_size * block_size
    x = tokens[:used].view(batch_size, steps, block_size).transpose(0, 1)
    return x, tokens[1 : used + 1].view(batch_size, steps, block_size).transpose(0, 1)


def _unshifted_steps(tokens, batch_size, block_size, padding):
    x, _ = sequential_windows(tokens, batch_size, block_size, padding)
    return x, torch.where(x == padding, IGNORED, x)


def _padding_counts(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    return x, torch.where(y == IGNORED, padding, y)


def _targets_stop_at_the_row(tokens, batch_size, block_size, padding):
    x, _ = sequential_windows(tokens, batch_size, block_size, padding)
    rows = x.transpose(0, 1).reshape(batch_size, -1)  # (B, S·T)
    y = F.pad(rows[:, 1:], (0, 1), value=padding).view(batch_size, -1, block_size)
    return x, torch.where(y == padding, IGNORED, y).transpose(0, 1)


def _targets_stop_at_the_window(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    y = y.clone()
    y[:, :, -1] = IGNORED
    return x, y


def _rows_before_steps(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    return x.transpose(0, 1), y.transpose(0, 1)


def _rows_continue(evidence: Evidence) -> bool:
    """The first input of a step follows the last input of the same row in the step before."""
    x, padding = evidence.yours("steps.x"), evidence.number("padding")
    B, T = evidence.number("batch_size"), evidence.number("block_size")
    after = _successors(evidence.inputs["tokens"])
    if x.ndim != 3 or x.shape[1:] != (B, T) or len(x) < 2:
        return False
    joints = [
        (int(last), int(first))
        for last, first in zip(x[:-1, :, -1].flat, x[1:, :, 0].flat, strict=True)
        if first != padding
    ]
    return len(joints) >= B and all(after.get(last) == first for last, first in joints)


def _step_targets_follow(evidence: Evidence) -> bool:
    x, y = evidence.yours("steps.x"), evidence.yours("steps.y")
    after = _successors(evidence.inputs["tokens"])
    pairs = [(int(a), int(b)) for a, b in zip(x.flat, y.flat, strict=True) if int(a) in after]
    return len(pairs) > x.size / 2 and all(after[a] == b for a, b in pairs)


def _targets_once(value: str, tokens: str) -> Callable[[Evidence], bool]:
    def holds(evidence: Evidence) -> bool:
        y = evidence.yours(value)
        counted = sorted(y[y != IGNORED].astype(int).tolist())
        return counted == sorted(evidence.inputs[tokens][1:].tolist())

    return holds


def _counted_otherwise(value: str) -> Callable[[Evidence], Finding | None]:
    """A property: which target is missing, or counts more than once."""

    def ask(evidence: Evidence) -> Finding | None:
        y = evidence.yours(value)
        counts = Counter(y[y != IGNORED].astype(int).tolist())
        for token in evidence.inputs["tokens"][1:].tolist():
            if counts[token] != 1:
                return Finding(
                    "not-counted-once",
                    f"A target counts {counts[token]} times; every one should count once.",
                    f"It is {token}, at position {_place(evidence, token)} of the tokens.",
                    ONCE,
                )
        return None

    return ask


def _place(evidence: Evidence, token: int) -> int:
    """Where a token stands in the text."""
    return int(np.flatnonzero(evidence.inputs["tokens"] == token)[0])


def _joint(evidence: Evidence) -> str:
    x = evidence.yours("steps.x")
    return (
        f"In your step 0, row 0 ends with {int(x[0, 0, -1])}; in step 1 it goes on with "
        f"{int(x[1, 0, 0])}."
    )


SEQUENTIAL = Task(
    "Sequential windows that lose nothing",
    sequential_windows,
    CONTINUE,
    (
        Part("Row b of step n + 1 continues row b of step n.", 1, _rows_continue),
        Part("The inputs are all there, in B rows of equal length.", 1, matches("steps.x")),
        Part("Each target is the token that follows its input.", 1, _step_targets_follow),
        Part(
            "Every token but the first is a target, once.",
            1,
            _targets_once("steps.y", "tokens"),
        ),
    ),
    (
        Mistake(
            "rows-do-not-continue",
            _rows_do_not_continue,
            "Your rows do not continue each other from step to step.",
            lambda e: (
                f"{_joint(e)} The token after {int(e.yours('steps.x')[0, 0, -1])} is "
                f"{int(e.yours('steps.x')[0, 1, 0])}, and you put it into row 1 of step 0. "
                "Cut the text into B long rows first, then cut the rows into steps."
            ),
            CONTINUE,
            cases=("steps.x",),
        ),
        Mistake(
            "view-without-transpose",
            _view_without_transpose,
            "Your rows got mixed up: (B, S·T) was viewed as (S, B, T).",
            lambda e: (
                f"{_joint(e)} A view keeps the numbers in their order and only counts them "
                "differently, so it cannot exchange rows and steps. View as (B, S, T), then "
                "transpose the first two axes."
            ),
            CONTINUE,
            cases=("steps.x",),
        ),
        Mistake(
            "filled-at-the-end-only",
            _filled_at_the_end_only,
            "Your rows take S · T inputs each, so the last row is left with less.",
            lambda e: (
                f"Row 1 of your step 0 begins with {int(e.yours('steps.x')[0, 1, 0])}, which is at "
                f"position {_place(e, int(e.yours('steps.x')[0, 1, 0]))} of the tokens; with "
                f"L = ⌈(N − 1) / B⌉ inputs a row it begins at "
                f"{_place(e, int(e.right('steps.x')[0, 1, 0]))}. Give every row L inputs, then "
                "fill each row up."
            ),
            CONTINUE,
            cases=("steps.x",),
        ),
        Mistake(
            "leftover-dropped",
            _leftover_dropped,
            "You leave out what does not fill a whole step.",
            lambda e: (
                f"You return {len(e.yours('steps.x'))} steps with "
                f"{e.yours('steps.x').size} targets; the text has "
                f"{len(e.inputs['tokens']) - 1}, which take {len(e.right('steps.x'))} steps, "
                "the last one filled up. The chapter drops the rest; here nothing may be lost."
            ),
            ONCE,
            cases=("steps.x",),
        ),
        Mistake(
            "rows-before-steps",
            _rows_before_steps,
            "Your first axis counts rows, not steps.",
            lambda e: (
                f"Your inputs have shape {e.yours('steps.x').shape}, which is (B, S, T); the task "
                f"wants (S, B, T) = {e.right('steps.x').shape}, so that `x[n]` is the batch of "
                "step n."
            ),
            CONTINUE,
            cases=("steps.x",),
        ),
        Mistake(
            "unshifted-targets",
            _unshifted_steps,
            "Your targets are the inputs themselves.",
            lambda e: (
                f"Row 0 of step 0 has the inputs `{_row(e.yours('steps.x')[0, 0])}` and the "
                f"targets `{_row(e.yours('steps.y')[0, 0])}`. The first target should be "
                f"{int(e.right('steps.y')[0, 0, 0])}."
            ),
            TARGET,
            recognised=lambda e: (
                e.same("steps.x")
                and e.comparable("steps.y")
                and bool(
                    (e.yours("steps.x") == e.yours("steps.y"))[
                        e.right("steps.x") != e.number("padding")
                    ].all()
                )
            ),
        ),
        Mistake(
            "padding-is-a-target",
            _padding_counts,
            lambda e: f"Your targets hold the padding {e.number('padding')} where −100 belongs.",
            lambda e: (
                f"{int((e.yours('steps.y') == e.number('padding')).sum())} of your targets are "
                "padding. A loss would count them, and the mean would be lower than the text "
                "deserves: padding after padding is easy to guess."
            ),
            ONCE,
            cases=("steps.y",),
        ),
        Mistake(
            "targets-stop-at-the-row",
            _targets_stop_at_the_row,
            "The last target of a row is missing.",
            lambda e: (
                f"Row 0 ends with the input {int(_last_input(e))}. Its target is the first token "
                f"of row 1, {int(e.right('steps.x')[0, 1, 0])}; yours is −100. Shift the text by "
                "one before you cut it into rows."
            ),
            CONTINUE,
            cases=("steps.y",),
        ),
        Mistake(
            "targets-stop-at-the-window",
            _targets_stop_at_the_window,
            "The last position of each window has no target.",
            lambda e: (
                f"Your first row of targets is `{_row(e.yours('steps.y')[0, 0])}`: 1 in "
                f"{e.number('block_size')} targets is lost, and it is the one with the longest "
                f"past. It should be {int(e.right('steps.y')[0, 0, -1])}, the first input of the "
                "next step."
            ),
            EXAMPLES,
            cases=("steps.y",),
        ),
    ),
    (_not_the_next_token("steps.x", "steps.y", "tokens"), _counted_otherwise("steps.y")),
)


def _last_input(evidence: Evidence) -> int:
    """The last input of row 0 that is no padding."""
    row = evidence.right("steps.x")[:, 0].ravel()
    return int(row[row != evidence.number("padding")][-1])


# split


def _divide(names, fraction, generator):
    distinct = sorted(set(names))
    order = torch.randperm(len(distinct), generator=generator).tolist()
    chosen = {distinct[i] for i in order[: round(fraction * len(distinct))]}
    return [n for n in names if n not in chosen], [n for n in names if n in chosen]


def split_names(names, fraction, seed):
    """A right answer."""
    return _divide(names, fraction, torch.Generator().manual_seed(seed))


def _duplicates_across(names, fraction, seed):
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(seed)).tolist()
    cut = round(fraction * len(names))
    return [names[i] for i in order[cut:]], [names[i] for i in order[:cut]]


def _training_keeps_everything(names, fraction, seed):
    return names, split_names(names, fraction, seed)[1]


def _duplicates_dropped(names, fraction, seed):
    return tuple(sorted(set(part)) for part in split_names(names, fraction, seed))


def _not_shuffled(names, fraction, seed):
    distinct = sorted(set(names))
    chosen = set(distinct[len(distinct) - round(fraction * len(distinct)) :])
    return [n for n in names if n not in chosen], [n for n in names if n in chosen]


def _unseeded(names, fraction, seed):
    return _divide(names, fraction, None)


def _seed_ignored(names, fraction, seed):
    return split_names(names, fraction, 1337)


def _splits_exchanged(names, fraction, seed):
    return split_names(names, fraction, seed)[::-1]


_SPLIT_CASES = ("split", "again", "other")


def _parts_of(evidence: Evidence, case: str = "split") -> tuple[list[str], list[str]]:
    """Training and validation names that the answer returned."""
    both = (evidence.answers.values[f"{case}.{half}"] for half in ("train", "validation"))
    train, validation = (str(text).split("\n") if str(text) else [] for text in both)
    return train, validation


def _all_splits(evidence: Evidence) -> Iterator[tuple[list[str], list[str]]]:
    return (_parts_of(evidence, case) for case in _SPLIT_CASES)


def _names_of(evidence: Evidence) -> list[str]:
    return input_text(evidence.inputs["names"]).split("\n")


def _fraction(evidence: Evidence) -> float:
    return float(evidence.inputs["fraction"])


def _wanted(evidence: Evidence) -> int:
    return round(_fraction(evidence) * len(set(_names_of(evidence))))


def _nothing_lost(evidence: Evidence) -> bool:
    names = Counter(_names_of(evidence))
    return all(t and v and Counter(t) + Counter(v) == names for t, v in _all_splits(evidence))


def _apart(evidence: Evidence) -> bool:
    names = set(_names_of(evidence))
    return all(
        t and v and set(t) | set(v) == names and not set(t) & set(v)
        for t, v in _all_splits(evidence)
    )


def _same_split(evidence: Evidence, case: str) -> bool:
    (t, v), (other_t, other_v) = _parts_of(evidence), _parts_of(evidence, case)
    return set(t) == set(other_t) and set(v) == set(other_v)


def _seeded(evidence: Evidence) -> bool:
    return (
        all(t and v for t, v in _all_splits(evidence))
        and _same_split(evidence, "again")
        and not _same_split(evidence, "other")
    )


def _right_size(evidence: Evidence) -> bool:
    return all(t and len(set(v)) == _wanted(evidence) for t, v in _all_splits(evidence))


def _entries_lost(evidence: Evidence) -> Finding | None:
    if _nothing_lost(evidence):
        return None
    (train, validation), names = _parts_of(evidence), Counter(_names_of(evidence))
    found = Counter(train) + Counter(validation)
    wrong = sorted(n for n in names | found if names[n] != found[n])
    if not wrong:
        return None
    return Finding(
        "entries-lost",
        "The two splits together are not the list.",
        f"`{wrong[0]}` is on the list {names[wrong[0]]} times and in your splits "
        f"{found[wrong[0]]} times.",
        SPLITS,
    )


def _another_size(evidence: Evidence) -> Finding | None:
    if _right_size(evidence):
        return None
    _, validation = _parts_of(evidence)
    return Finding(
        "another-size",
        "Validation has another size than was asked for.",
        f"{_fraction(evidence):.0%} of {len(set(_names_of(evidence)))} distinct names are "
        f"{_wanted(evidence)}; yours holds {len(set(validation))} distinct names.",
        SPLITS,
    )


def _in_order(evidence: Evidence) -> bool:
    train, validation = _parts_of(evidence)
    return max(train) <= min(validation) or max(validation) <= min(train)


def _shared(evidence: Evidence) -> list[str]:
    train, validation = _parts_of(evidence)
    return sorted(set(train) & set(validation))


def _says_shared(evidence: Evidence) -> str:
    shared, (_, validation) = _shared(evidence), _parts_of(evidence)
    return (
        f"{len(shared)} of the {len(set(validation))} names in your validation split are in the "
        f"training split, too, `{shared[0]}` for one. You shuffled the list, where popular names "
        "stand several times; decide for each distinct name."
    )


SPLIT = Task(
    "Split without leakage",
    split_names,
    SPLITS,
    (
        Part("Every entry of the list is in one of the two.", 1, _nothing_lost),
        Part("No name is in both.", 1, _apart),
        Part("The seed decides which names go where, and nothing else does.", 1, _seeded),
        Part("Validation holds the wanted fraction of the distinct names.", 1, _right_size),
    ),
    (
        Mistake(
            "not-shuffled",
            _not_shuffled,
            "You cut the list without shuffling it.",
            lambda e: (
                f"Validation runs from `{min(_parts_of(e)[1])}` to `{max(_parts_of(e)[1])}` and "
                "the seed changes nothing. The list is sorted, so the model would be tested on "
                "initials that it was never shown."
            ),
            SPLITS,
            recognised=lambda e: _same_split(e, "other") and _in_order(e),
        ),
        Mistake(
            "unseeded",
            _unseeded,
            "Two calls with the same seed give two splits.",
            lambda e: (
                f"With seed = {e.number('seed')} the first call put "
                f"{len(set(_parts_of(e)[1]) - set(_parts_of(e, 'again')[1]))} names into "
                "validation that the second call put into training. Train today, validate "
                "tomorrow, and the names have leaked. Draw from "
                "`torch.Generator().manual_seed(seed)`."
            ),
            SPLITS,
            recognised=lambda e: not _same_split(e, "again"),
        ),
        Mistake(
            "seed-ignored",
            _seed_ignored,
            "Another seed gives the same split.",
            lambda e: (
                f"Seeds {e.number('seed')} and {int(e.inputs['other'][0])} put the same "
                f"{len(set(_parts_of(e)[1]))} names into validation. Nobody can then tell how much "
                "of a result is luck of the split. Use `seed`."
            ),
            SPLITS,
            recognised=lambda e: _same_split(e, "other"),
        ),
        Mistake(
            "training-keeps-everything",
            _training_keeps_everything,
            "Your training split is the whole list.",
            lambda e: (
                f"All {len(set(_parts_of(e)[1]))} names of your validation split are in training, "
                f"`{_shared(e)[0]}` for one. What is held out has to be left out of training."
            ),
            SPLITS,
            recognised=lambda e: (
                bool(_shared(e))
                and set(_parts_of(e)[0]) == set(_names_of(e))
                and not _nothing_lost(e)
            ),
        ),
        Mistake(
            "duplicates-across-splits",
            _duplicates_across,
            "The same name stands in both splits.",
            _says_shared,
            SPLITS,
            recognised=lambda e: bool(_shared(e)),
        ),
        Mistake(
            "duplicates-dropped",
            _duplicates_dropped,
            "Repeated names are gone.",
            lambda e: (
                f"The list has {len(_names_of(e))} entries and your two splits hold "
                f"{sum(map(len, _parts_of(e)))}. How often a name occurs is part of the data. "
                "Choose among distinct names, then go through the whole list."
            ),
            SPLITS,
            recognised=lambda e: _apart(e) and sum(map(len, _parts_of(e))) < len(_names_of(e)),
        ),
        Mistake(
            "splits-exchanged",
            _splits_exchanged,
            "Training and validation are exchanged.",
            lambda e: (
                f"Validation holds {len(set(_parts_of(e)[1]))} distinct names and training "
                f"{len(set(_parts_of(e)[0]))}; `fraction` = {_fraction(e):g} is "
                "validation's. Return training first."
            ),
            SPLITS,
            recognised=lambda e: _apart(e) and len(set(_parts_of(e)[0])) == _wanted(e),
        ),
    ),
    (_entries_lost, _another_size),
)


# evaluation


def overlapping_windows(tokens, block_size, stride):
    """A right answer."""
    last = len(tokens) - 1  # as many inputs as targets
    M = 1 + max(0, -(-(last - block_size) // stride))
    positions = torch.arange(M)[:, None] * stride + torch.arange(block_size)  # (M, T)
    fresh = torch.arange(block_size) >= block_size - stride
    fresh = fresh.repeat(M, 1)
    fresh[0] = True
    x = torch.where(positions < last, tokens[positions.clamp(max=last)], 0)
    y = torch.where(fresh & (positions < last), tokens[(positions + 1).clamp(max=last)], IGNORED)
    return x, y


def _all_targets(tokens, block_size, stride):
    """The same windows with every target in them counted."""
    x, _ = overlapping_windows(tokens, block_size, stride)
    positions = torch.arange(len(x))[:, None] * stride + torch.arange(block_size)
    last = len(tokens) - 1
    return x, torch.where(positions < last, tokens[(positions + 1).clamp(max=last)], IGNORED)


def _counted_twice(tokens, block_size, stride):
    return _all_targets(tokens, block_size, stride)


def _first_window_cut(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    y[0, : block_size - stride] = IGNORED
    return x, y


def _least_past(tokens, block_size, stride):
    x, y = _all_targets(tokens, block_size, stride)
    y[:-1, stride:] = IGNORED
    return x, y


def _last_window_not_filled(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    full = max(0, (len(tokens) - 1 - block_size) // stride + 1)
    return x[:full], y[:full]


def _no_overlap(tokens, block_size, stride):
    return overlapping_windows(tokens, block_size, block_size)


def _unshifted_evaluation(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    return x, torch.where(y == IGNORED, IGNORED, x)


def _padding_counted(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    return x, torch.where(x == 0, 0, y)


def _count(evidence: Evidence) -> int:
    return int((evidence.yours("long.y") != IGNORED).sum())


def _targets_there_are(evidence: Evidence) -> int:
    return len(evidence.inputs["tokens"]) - 1


def _once_in_both(evidence: Evidence) -> bool:
    return _targets_once("long.y", "tokens")(evidence) and _targets_once("short.y", "short")(
        evidence
    )


EVALUATION = Task(
    "Overlapping windows, every target once",
    overlapping_windows,
    ONCE,
    (
        Part(
            "Windows begin every `stride` tokens and the last is filled up.",
            1,
            matches("long.x", "short.x"),
        ),
        Part("Every token but the first is a target, once.", 2, _once_in_both),
        Part("A target counts where it has the most past.", 1, matches("long.y", "short.y")),
    ),
    (
        Mistake(
            "counted-twice",
            _counted_twice,
            "Targets in the overlap count in every window that holds them.",
            lambda e: (
                f"The text has {_targets_there_are(e)} targets and yours count {_count(e)}. Most "
                "of them count several times, mostly with little past. After the first window, "
                f"only the last {e.number('stride')} positions of a row are new."
            ),
            ONCE,
        ),
        Mistake(
            "first-window-cut",
            _first_window_cut,
            "The beginning of the text is never a target.",
            lambda e: (
                f"Your first row of targets is `{_row(e.yours('long.y')[0])}`. Nothing came before "
                f"the first window, so all of its {e.number('block_size')} targets are new."
            ),
            ONCE,
        ),
        Mistake(
            "least-past",
            _least_past,
            "You count each target where it has the least past.",
            lambda e: (
                f"Row 1 of your targets is `{_row(e.yours('long.y')[1])}`: its first "
                f"{e.number('stride')} count. Those have been in row 0 with more tokens before "
                f"them. Overlapping pays only if the last {e.number('stride')} count."
            ),
            ONCE,
        ),
        Mistake(
            "last-window-dropped",
            _last_window_not_filled,
            "The last window is missing because the text does not fill it.",
            lambda e: (
                f"You return {len(e.yours('long.x'))} of {len(e.right('long.x'))} windows and "
                f"count {_count(e)} of {_targets_there_are(e)} targets. Fill the last row up."
            ),
            ONCE,
            cases=("long",),
        ),
        Mistake(
            "no-overlap",
            _no_overlap,
            "Your windows do not overlap.",
            lambda e: (
                f"Your second window begins at position {e.number('block_size')} instead of "
                f"{e.number('stride')}, so its first target has one token of past. The chapter's "
                "windows do that; here each begins one stride after the one before."
            ),
            ONCE,
            cases=("long.x",),
        ),
        Mistake(
            "unshifted-targets",
            _unshifted_evaluation,
            "Your targets are the inputs themselves.",
            lambda e: (
                f"Your first row of inputs is `{_row(e.yours('long.x')[0])}` and its targets are "
                f"`{_row(e.yours('long.y')[0])}`. The first target should be "
                f"{int(e.right('long.y')[0, 0])}."
            ),
            TARGET,
        ),
        Mistake(
            "padding-is-a-target",
            _padding_counted,
            "Your targets hold 0 where −100 belongs.",
            lambda e: (
                f"Your last row of targets is `{_row(e.yours('long.y')[-1])}`: its inputs end "
                "before the row does, and the loss would ask for token 0 there. "
                "`cross_entropy` leaves out −100 and nothing else."
            ),
            ONCE,
        ),
    ),
    (_not_the_next_token("long.x", "long.y", "tokens"), _counted_otherwise("long.y")),
)


TASKS: dict[str, Task] = {
    "vocabulary": VOCABULARY,
    "windows": WINDOWS,
    "split": SPLIT,
    "batch": BATCH,
    "sequential": SEQUENTIAL,
    "evaluation": EVALUATION,
}
