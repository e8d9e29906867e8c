"""Judges 05/positions: symbols and positions, for texts that begin at different places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.attention_weights import rows_beside
from course_judges.ch05_head.sections import PLACE
from course_judges.ch05_head.shapes_that_meet import do_not_fit
from course_judges.ch05_head.wording import START_DOES_NOT_FIT
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE
from course_judges.wording import listed, number, row, unwrapped
from course_judges.wrong_arrays.comparisons import compared
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def embed(tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor) -> Tensor:
    """A right answer to 05/positions: (B, T), (V, C), (block_size, C), (B,) → (B, T, C)."""
    T = tokens.shape[1]  # T
    t = torch.arange(T)  # the columns (T,)
    where = t - start[:, None]  # the positions (B, T)
    rows = where.clamp(min=0)  # the rows of the position table (B, T)
    symbol = token_table[tokens]  # the vectors of the symbols (B, T, C)
    place = position_table[rows]  # the vectors of the positions (B, T, C)
    x = symbol + place  # the sums (B, T, C)
    padding = where < 0  # the mask of padding (B, T)
    return x.masked_fill(padding[:, :, None], 0.0)  # your vectors (B, T, C)


# Each case with its texts and where they begin.
_STARTS = (("short", "tokens", "none"), ("padded", "tokens", "start"), ("exact", "exact", "fits"))

_Answer = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
_Where = Callable[[Tensor, Tensor, int], Tensor]


def _placed(where: _Where) -> _Answer:
    """An answer that reads other rows of the position table: (t (T,), start (B, 1), its length)."""

    def answer(
        tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor
    ) -> Tensor:
        t = torch.arange(tokens.shape[1])
        rows = where(t, start[:, None], len(position_table)).expand(tokens.shape)
        x = token_table[tokens] + position_table[rows]
        return x.masked_fill((t < start[:, None])[:, :, None], 0.0)

    return answer


def _combined(combine: Callable[[Tensor, Tensor], Tensor]) -> _Answer:
    """An answer that puts the two embeddings together in another way."""

    def answer(
        tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor
    ) -> Tensor:
        where = torch.arange(tokens.shape[1]) - start[:, None]
        x = combine(token_table[tokens], position_table[where.clamp(min=0)])
        return x.masked_fill((where < 0)[:, :, None], 0.0)

    return answer


def _wraps(tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor) -> Tensor:
    return token_table[tokens] + position_table[torch.arange(tokens.shape[1]) - start[:, None]]


def _token_0_is_padding(
    tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor
) -> Tensor:
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x.masked_fill((tokens == 0)[:, :, None], 0.0)


def _real(evidence: Evidence) -> Array:
    """(B, T) True where a position belongs to the text."""
    return np.arange(evidence.number("T")) >= evidence.inputs["start"][:, None]


def _real_right(evidence: Evidence) -> bool:
    if not evidence.comparable("padded"):
        return False
    rows = _real(evidence)
    mine, right = evidence.yours("padded")[rows], evidence.right("padded")[rows]
    return bool(np.allclose(mine, right, rtol=1e-4, atol=1e-5))


def _shows_start_ignored(evidence: Evidence) -> bool:
    rows = _real(evidence)
    mine, unshifted = evidence.yours("padded")[rows], evidence.right("short")[rows]
    return bool(np.allclose(mine, unshifted, rtol=1e-4, atol=1e-5))


def _shows_padding_wraps(evidence: Evidence) -> bool:
    given = (
        torch.from_numpy(evidence.inputs[name])
        for name in ("tokens", "token_table", "position_table", "start")
    )
    return bool(np.allclose(evidence.yours("padded"), _wraps(*given).numpy(), atol=1e-5))


def _at(evidence: Evidence, case: str, b: int, t: int) -> str:
    mine, right = evidence.yours(case)[b, t], evidence.right(case)[b, t]
    one, other = rows_beside(mine, right)
    return f"yours is {one}, but it should be {other}"


def _short(evidence: Evidence) -> str:
    return f"At position 1 of text 0, which has no padding, {_at(evidence, 'short', 0, 1)}."


def _padded(evidence: Evidence) -> str:
    b = int(np.argmax(evidence.inputs["start"]))
    first = int(evidence.inputs["start"][b])
    return unwrapped(f"""Text {b} begins at t = {first}. There {_at(evidence, "padded", b, first)},
    which uses row 0 of the position table.""")


def _one_start_row(evidence: Evidence) -> str:
    b, t = (
        int(i)
        for i in np.argwhere(~close(evidence.yours("padded"), evidence.right("padded")))[0][:2]
    )
    return f"In text {b}, at t = {t}, {_at(evidence, 'padded', b, t)}."


def _padding(evidence: Evidence) -> str:
    off = np.abs(evidence.yours("padded")).max(axis=-1) > NEGLIGIBLE  # (B, T)
    # In the text with most padding, if it has some that isn't 0, or else in another one.
    padding = off & ~_real(evidence)
    if not padding.any():
        return ""
    most = int(np.argmax(evidence.inputs["start"]))
    b = most if padding[most].any() else int(np.argmax(padding.any(axis=1)))
    t, first = int(np.argmax(padding[b])), int(evidence.inputs["start"][b])
    mine = evidence.yours("padded")[b, t]
    return f"Text {b} begins at t = {first}, but at t = {t} it has {row(mine)} instead of zeros."


def _shape(evidence: Evidence) -> str:
    mine, right = evidence.yours("short").shape, evidence.right("short").shape
    return f"Your result has shape {mine}, but the head expects {right}."


def _fit(evidence: Evidence) -> str:
    T, size = evidence.number("T"), evidence.number("block_size")
    return unwrapped(f"""The texts have T = {T} positions, but the table has {size} rows. Take only
    the rows that you need, here the first T.""")


@mistake(
    "You added the whole position table.",
    _fit,
    recognized=lambda e: do_not_fit(e, "short", "T", "block_size"),
)
def _table_not_cut(
    tokens: Tensor,
    token_table: Tensor,
    position_table: Tensor,
    start: Tensor,  # noqa: ARG001
) -> Tensor:
    return token_table[tokens] + position_table


@mistake(
    START_DOES_NOT_FIT,
    lambda e: unwrapped(f"""There are B = {e.number("B")} texts of T = {e.number("T")} positions,
    and a dimension of {e.number("B")} met one of {e.number("T")}. Next to `torch.arange(T)`,
    `start` has to be a column, `start[:, None]`, so that every text gets a row of positions. A (B,
    T) mask needs one more axis, `[:, :, None]`, to fit (B, T, C)."""),
    recognized=lambda e: do_not_fit(e, "short", "B", "T"),
)
def _start_along_the_positions(
    tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor
) -> Tensor:
    where = torch.arange(tokens.shape[1]) - start
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x.masked_fill((where < 0)[:, None], 0.0)


_no_positions = mistake(
    "You left out the positions, so a symbol looks the same everywhere.",
    lambda e: f"{_short(e)} Yours is the row of the token alone.",
)(Like("left-out-the-vectors-of-the-positions-in-the-sums"))

_positions_only = mistake(
    "You left out the symbols, so only the positions are left.",
    lambda e: f"{_short(e)} Every text looks the same to the model.",
)(Like("left-out-the-vectors-of-the-symbols-in-the-sums"))

_multiplied = mistake("You multiplied symbol and position instead of adding them.", _short)(
    _combined(lambda x, p: x * p)
)

_concatenated = mistake("You put symbol and position side by side instead of adding them.", _shape)(
    _combined(lambda x, p: torch.cat([x, p.expand(x.shape)], dim=-1))
)


_positions_by_token = mistake(
    "You looked up tokens in the position table.",
    lambda e: unwrapped(f"""Position 1 of text 0 holds token {int(e.inputs["tokens"][0, 1])}, and
    you took row {int(e.inputs["tokens"][0, 1])} of the position table. {_short(e)} Look up the
    position there, whatever the symbol is."""),
)(Like("used-tokens-instead-of-the-positions-in-the-rows-of-the-position-table"))


@mistake(
    "Your positions count along the batch instead of along the text.",
    lambda e: f"All symbols of text b get row b of the position table. {_short(e)}",
)
def _positions_along_the_batch(
    tokens: Tensor,
    token_table: Tensor,
    position_table: Tensor,
    start: Tensor,  # noqa: ARG001
) -> Tensor:
    return token_table[tokens] + position_table[: len(tokens), None]


_last_rows = mistake(
    "You took the last rows of the position table instead of the first.",
    lambda e: f"{_short(e)} The first symbol has position 0. {_fit(e)}",
)(_placed(lambda t, start, size: t - start + size - len(t)))

_counted_from_one = mistake(
    "You count positions from 1, so no symbol gets row 0 of the table.", _short
)(_placed(lambda t, start, size: (t - start + 1).clamp(0, size - 1)))

_counted_from_the_end = mistake(
    "You count positions from the end of the text backwards.",
    lambda e: f"{_short(e)} If you append a symbol, every position before it changes.",
)(_placed(lambda t, start, size: len(t) - 1 - t + 0 * start + 0 * size))


def _one_start(of: Callable[[Tensor], Tensor], *, hides: bool) -> _Answer:
    """An answer that counts all texts from one start, and perhaps hides what comes before it."""

    def answer(
        tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor
    ) -> Tensor:
        one = of(start).expand_as(start)
        x = embed(tokens, token_table, position_table, one)
        if hides:
            return x
        where = (torch.arange(tokens.shape[1]) - one[:, None]).clamp(min=0)
        x = token_table[tokens] + position_table[where]
        return x.masked_fill((torch.arange(tokens.shape[1]) < start[:, None])[:, :, None], 0.0)

    return answer


_earliest_start_for_all = mistake(
    "You count the positions of all texts from the earliest start, but each text has its own.",
    lambda e: f"`start` is [{listed(e.inputs['start'])}]. {_padded(e)}",
    cases=("short", "padded"),
    also=(_one_start(lambda start: start.min(), hides=True),),
)(_one_start(lambda start: start.min(), hides=False))

_start_ignored = mistake(
    "In your answer, positions don't depend on where a text begins.",
    _padded,
    recognized=_shows_start_ignored,
)(Like("used-the-columns-instead-of-the-positions-in-the-rows-of-the-position-table"))

_start_added = mistake(
    "You added `start`, but a text that begins later has smaller positions, not larger ones.",
    _padded,
    cases=("padded",),
)(_placed(lambda t, start, size: (t + start).clamp(max=size - 1)))


_one_start_for_all = mistake(
    "You use one start for all texts, but each text has its own.",
    lambda e: f"`start` is [{listed(e.inputs['start'])}]. {_one_start_row(e)}",
    cases=("short", "padded"),
    also=tuple(
        _one_start(of, hides=hides)
        for of in (lambda start: start.max(), lambda start: start[0], lambda start: start[-1])
        for hides in (False, True)
    ),
)(_one_start(lambda start: start.max(), hides=True))

_token_0_for_padding = mistake(
    "You treat token 0 as padding, but it is `start` that tells you what is padding.",
    lambda e: unwrapped(f"""Token 0 is a symbol like any other ({(e.inputs["tokens"] == 0).sum()} of
    these {e.inputs["tokens"].size}), and padding may hold other tokens. {_padding(e)}"""),
    cases=("short", "padded"),
)(_token_0_is_padding)


def _moved_forward(
    tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor
) -> Tensor:
    rows = []
    for text, first in zip(tokens, start.tolist(), strict=True):
        moved = torch.zeros(len(text), token_table.shape[1])
        symbols = text[first:]
        moved[: len(symbols)] = token_table[symbols] + position_table[: len(symbols)]
        rows.append(moved)
    return torch.stack(rows)


_moved_to_the_front = mistake(
    "You moved each text to the front of its row, but it should stay where it is.",
    lambda e: unwrapped(f"""{_padded(e)} The zeros of the padding belong at the beginning of a row,
    not at its end."""),
    cases=("short", "padded"),
)(_moved_forward)


def _blank_behind(
    tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor
) -> Tensor:
    t, T = torch.arange(tokens.shape[1]), tokens.shape[1]
    x = token_table[tokens] + position_table[:T]
    return x.masked_fill((t >= T - start[:, None])[:, :, None], 0.0)


_padding_at_the_end = mistake(
    "You set the last positions of each row to 0, but padding comes first.",
    lambda e: _padding(e) or _padded(e),
    cases=("short", "padded"),
    also=(
        lambda tokens, token_table, position_table, start: embed(
            tokens, token_table, position_table, start
        ).masked_fill(
            (torch.arange(tokens.shape[1]) >= tokens.shape[1] - start[:, None])[:, :, None], 0.0
        ),
    ),
)(_blank_behind)

_padding_wraps = mistake(
    "Your padding isn't 0, because its negative positions read the table from the end.",
    lambda e: f"{_padding(e)} An index of −1 means the last row, so there is no error.",
    recognized=_shows_padding_wraps,
)(_wraps)


_padding_filled = mistake(
    "Your vectors for the texts are right, but those for the padding aren't 0.",
    _padding,
    recognized=lambda e: (
        _real_right(e) and bool(np.abs(e.yours("padded")[~_real(e)]).max() > NEGLIGIBLE)
    ),
)(Like("used-clamp-instead-of-clamp-in-the-rows-of-the-position-table"))


@mistake(
    "Your answer fails for a row that is longer than the position table, although its text isn't.",
    lambda e: unwrapped(f"""A row of {e.inputs["exact"].shape[1]} positions stopped with
    {e.answers.errors["exact"].kind}. Its text begins at t = {int(e.inputs["fits"][0])}, so its last
    symbol has position {e.number("block_size") - 1}, which the table has a row for."""),
    recognized=lambda e: (
        e.same("short", "padded", "refused")
        and "exact" in e.answers.errors
        and e.inputs["exact"].shape[1] > e.number("block_size")
    ),
)
def _long_rows_refused(
    tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor
) -> Tensor:
    if tokens.shape[1] > len(position_table):
        raise ValueError("the text is too long")
    return embed(tokens, token_table, position_table, start)


@mistake(
    "Your answer fails for a text with exactly as many symbols as the table has positions.",
    lambda e: unwrapped(f"""A text of {e.inputs["exact"].shape[1]} symbols stopped with
    {e.answers.errors["exact"].kind}, but its last symbol has position {e.number("block_size") - 1},
    which the table has a row for."""),
    recognized=lambda e: e.same("short", "padded", "refused") and "exact" in e.answers.errors,
)
def _exact_fit_refused(
    tokens: Tensor, token_table: Tensor, position_table: Tensor, start: Tensor
) -> Tensor:
    if tokens.shape[1] >= len(position_table):
        raise ValueError("the text is too long")
    return embed(tokens, token_table, position_table, start)


def _only_the_last(evidence: Evidence) -> str:
    start = evidence.inputs["last_too_long"]
    if len(start) == 1:
        return ""
    return unwrapped(f""" Here `start` is [{listed(start)}] and a row has
    {evidence.inputs["too_many"].shape[1]} positions, so only the last text is too long. If you do
    compare lengths, look at every text.""")


_too_long_accepted = mistake(
    "You accept a text that is longer than the position table.",
    lambda e: unwrapped(f"""A text of {e.inputs["too_many"].shape[1]} symbols doesn't fit a table of
    {e.number("block_size")} positions, so some symbols share a position or have none, and nobody
    notices. Let it fail, or raise an error.{_only_the_last(e)}"""),
    recognized=lambda e: e.same("short", "padded") and not e.yours("refused"),
)(_placed(lambda t, start, size: (t - start).clamp(0, size - 1)))


def _times(factor: float, C: int) -> str:
    root = {"√C": C**0.5, "1/√C": C**-0.5}
    name = next((f"{n} = " for n, r in root.items() if abs(factor / r - 1) < 1e-3), "")
    return f"{name}{number(factor)} times"


def _added_pairs(evidence: Evidence) -> tuple[Array, Array, Array]:
    """(N, C) each: yours, the symbol's vector and the position's, for every symbol of a text."""
    e, pairs = evidence.inputs, []
    for case, tokens, start in _STARTS:
        where = np.arange(e[tokens].shape[1]) - e[start][:, None]  # (B, T)
        real = where >= 0
        symbols, positions = e["token_table"][e[tokens][real]], e["position_table"][where[real]]
        pairs.append((evidence.yours(case)[real], symbols, positions))
    mine, symbols, positions = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return mine, symbols, positions


def _one_of_them_scaled(evidence: Evidence) -> Finding | None:
    """One of the two vectors is multiplied by the same number everywhere before they are added."""
    if not all(evidence.comparable(case) for case, _, _ in _STARTS):
        return None
    mine, symbols, positions = _added_pairs(evidence)
    C = mine.shape[1]
    for which, (scaled, other) in enumerate(((symbols, positions), (positions, symbols))):
        factor = float(((mine - other) * scaled).sum() / (scaled * scaled).sum())
        if min(abs(factor), abs(factor - 1)) < 1e-3:
            continue
        if not np.allclose(mine, factor * scaled + other, rtol=1e-4, atol=1e-5):
            continue
        one, another = ("symbol", "position") if which == 0 else ("position", "symbol")
        if abs(factor + 1) < 1e-3:
            made = f"the {another}'s vector minus the {one}'s"
        elif which == 0:
            made = f"{_times(factor, C)} the symbol's vector plus the position's"
        else:
            made = f"the symbol's vector plus {_times(factor, C)} the position's"
        return Finding(
            "one-of-them-scaled",
            f"Your answer is {made}, but the task adds the two as they are.",
            f"At position 0 of text 0, {_at(evidence, 'short', 0, 0)}.",
            PLACE,
        )
    return None


def _pairs_found(evidence: Evidence, case: str) -> Array:
    """(B, T, 2) The rows of the two tables that each of your vectors adds up; −1 for none of a
    table, and −2 in both places if it is no such sum. The token at its place is tried first.
    """
    tokens = evidence.inputs[{one: given for one, given, _ in _STARTS}[case]]
    symbols, positions = (evidence.inputs[f"{name}_table"] for name in ("token", "position"))
    symbols, positions = (
        np.concatenate([table.astype(float), np.zeros((1, table.shape[1]))])
        for table in (symbols, positions)
    )
    sums = symbols[:, None] + positions  # (V + 1, block_size + 1, C)
    found = np.full((*tokens.shape, 2), -2)
    for b, t in np.ndindex(tokens.shape):
        mine = evidence.yours(case)[b, t]
        held = int(tokens[b, t])
        off = np.abs(sums - mine).max(axis=-1)
        fits = np.argwhere(off < 1e-4)
        if len(fits):
            own = fits[fits[:, 0] == held]
            v, p = own[0] if len(own) else fits[0]
            found[b, t] = (
                v if v < len(symbols) - 1 else -1,
                p if p < len(positions) - 1 else -1,
            )
    return found


def _read_rows(evidence: Evidence) -> Finding | None:
    """Which rows of the two tables were added, in the first text that has wrong ones."""
    for case, tokens, start in _STARTS:
        if evidence.same(case) or not evidence.comparable(case):
            continue
        off = np.asarray(~close(evidence.yours(case), evidence.right(case)).all(axis=-1))  # (B, T)
        e, found = evidence.inputs, _pairs_found(evidence, case)
        b = int(np.argmax(off.any(axis=1)))
        first, held = int(e[start][b]), e[tokens][b]
        symbols, positions = found[b, :, 0], found[b, :, 1]
        if (found[b] == -2).any():
            return None
        wanted = np.arange(len(held)) - first
        wanted[wanted < 0] = -1
        begins = f"Text {b} begins at t = {first}" if first else f"Text {b} has no padding"
        blank = (wanted >= 0) & (symbols == -1) & (positions == -1)
        if blank.any():
            what = "Some symbols of a text are vectors of zeros in your answer."
            told = (
                f"{begins}, and its tokens are [{listed(held)}]. What you return is 0 at t = "
                f"{listed(np.flatnonzero(blank))}, which isn't padding."
            )
        elif (symbols[wanted >= 0] == held[wanted >= 0]).all():
            if (symbols[wanted < 0] == -1).all():
                what = "You read the wrong rows of the position table."
            else:
                what = "You don't leave the padding at 0, and positions of symbols are wrong."
            told = (
                f"{begins}, so the positions along it should be {_rows_in_words(wanted)}. "
                f"Yours are {_rows_in_words(positions)}."
            )
        elif (positions == wanted).all():
            what = "You read the wrong rows of the token table."
            should = np.where(wanted < 0, -1, held)
            told = (
                f"{begins}, and its tokens are [{listed(held)}]. Rows of the token table should be "
                f"{_rows_in_words(should)}. Yours are {_rows_in_words(symbols)}."
            )
        else:
            what = "You read the wrong rows of both tables."
            told = (
                f"{begins}, and its tokens are [{listed(held)}]. You added rows "
                f"{_rows_in_words(symbols)} of the token table to rows {_rows_in_words(positions)} "
                f"of the position table, which should be {_rows_in_words(wanted)}."
            )
        good = np.flatnonzero(~off.any(axis=1))
        others = f" Right: text {listed(good)}." if len(good) else ""
        dashes = " A dash stands for nothing that was added." if "–" in told else ""
        return Finding("other-rows", what, f"{told}{dashes}{others}", PLACE)
    return None


def _rows_in_words(rows: Array) -> str:
    """Rows of a table along a text, with a dash where there is none: "[–, –, 0, 1]"."""
    return "[" + ", ".join("–" if one < 0 else str(int(one)) for one in rows) + "]"


def _worked_out(evidence: Evidence) -> Finding | None:
    """The two rows of the tables that should be added at the first wrong place."""
    for case, tokens, start in _STARTS:
        if evidence.same(case):
            continue
        mine, right = evidence.yours(case), evidence.right(case)
        if mine.shape != right.shape:
            return None
        if evidence.number("B") > 1 and compared(mine, right):
            return None  # `compared` says more
        e = evidence.inputs
        off = ~close(mine, right).all(axis=-1)  # (B, T)
        text = np.arange(off.shape[1]) >= e[start][:, None]
        if not (off & text).any():
            return None
        b, t = (int(i) for i in np.argwhere(off & text)[0])
        first, token = int(e[start][b]), int(e[tokens][b, t])
        return Finding(
            "another-sum",
            "Your embeddings aren't the sums of symbol and position.",
            f"Text {b} begins at t = {first}. At t = {t} it has token {token}, whose vector is "
            f"{row(e['token_table'][token])}, at position {t - first}, whose vector is "
            f"{row(e['position_table'][t - first])}. There {_at(evidence, case, b, t)}.",
            PLACE,
        )
    return None


TASK = Task(
    "Where padded texts begin",
    embed,
    PLACE,
    (
        Part(
            "Symbol and position are added.",
            2,
            matches("short", "exact", "refused"),
        ),
        Part("Each text counts its positions from its own first symbol.", 1, _real_right),
        Part("Padding is 0.", 1, matches("padded")),
    ),
    properties=(_one_of_them_scaled, _read_rows),
    cases=("short",),
    examples=(_worked_out,),
    steps={
        "T": Step("A row of tokens has T columns."),
        "the columns": Step("Columns are counted from 0."),
        "the positions": Step("Each text counts from its own first symbol, which has position 0."),
        "the rows of the position table": Step("A negative row would be read from the end."),
        "the vectors of the symbols": Step("What a symbol is comes from the token table."),
        "the vectors of the positions": Step("Where it is comes from the position table."),
        "the sums": Step("A vector says both what a symbol is and where it is."),
        "the mask of padding": Step("Padding lies before the first symbol of a text."),
        "your vectors": Step("Padding is 0, and every symbol keeps its vector."),
    },
)
