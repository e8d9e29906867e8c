"""Judges my-gpt/model: what a GPT does, seen from outside.

Nothing is compared with a right answer's numbers, since every program has its own. Each part
compares the program's logits with its logits after a change, so that any style may pass. Where a
program has the parts of chapter 08, its weights are read as well, by `course_lib.role_map`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch

from course_judges.evidence import Evidence
from course_judges.project_my_gpt.program import GPT
from course_judges.project_my_gpt.saying import finding, stopped
from course_judges.rubric import Part, Task
from course_judges.wording import listed, number
from course_lib import role_map
from course_lib.config import Config
from course_lib.errors import CheckpointError
from course_tasks.answers import Array
from course_tasks.project_my_gpt.model import LARGE, START_ROWS
from course_tasks.verdict import Finding, Section

# How far logits move, as a share of their spread, when something that reaches them is changed, at
# least; rounding in float32 stays a hundred times below.
_MOVES = 2e-4

# The first loss may be so far above ln V: that of PyTorch's own initial weights is 0.2 above.
START_ABOVE = 0.5

# Matrices of a block, in C²: four of attention and two of 4 each; three of 4 each with a gate.
_FEWEST, _MOST = 11.4, 16.6

# In norms, the last one included, logits grow as the output matrix does; without it, as its square.
_GROWTH_WITHOUT_LAST_NORM = 1.5


PROGRAM = Section("08-gpt", "The whole program")
START = Section("08-gpt", "Where it starts")


def _sizes(e: Evidence) -> tuple[int, int, int, int]:
    return e.number("V"), e.number("T"), e.number("C"), e.number("H")


def _logits(e: Evidence, name: str, *shape: int) -> Array:
    """An array of logits that say something.

    Raises
    ------
    ValueError
        If it has another shape, is not finite, or is the same everywhere.
    """
    found = e.shaped(name, (*shape, e.number("V"))).astype(np.float64)
    if not np.isfinite(found).all() or np.ptp(found) < 1e-6:
        raise ValueError(f"{name} says nothing")
    return found


def _moved(one: Array, other: Array) -> Array:
    """How far logits (…, V) are apart, as a share of their spread: (…)."""
    return np.asarray(np.abs(one - other).max(axis=-1) / one.std())


def _same(one: Array, other: Array) -> bool:
    return bool(_moved(one, other).max() < _MOVES)


def _influence(e: Evidence) -> Array:
    """(T, T): whether changing token s moves the logits of position t, at [t, s]."""
    T = e.number("T")
    changed = _logits(e, "influence.changed", T + 1, T)
    return np.asarray(_moved(changed[1:], changed[:1]).T > _MOVES)


def _cross_entropy(e: Evidence, case: str = "start") -> float:
    logits = _logits(e, f"{case}.logits", START_ROWS, e.number("T"))
    shifted = logits - logits.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return -float(np.take_along_axis(logs, e.inputs["start_targets"][..., None], -1).mean())


def _loss(e: Evidence) -> float:
    return float(e.shaped("gradients.loss", ()))


# --- What is true of a program ----------------------------------------------------------------


def _loss_is_right(e: Evidence) -> bool:
    right = _cross_entropy(e, "gradients")
    return math.isclose(_loss(e), right, rel_tol=1e-3, abs_tol=1e-3) and not _no_distribution(e)


def _starts_near(e: Evidence) -> bool:
    excess = _cross_entropy(e) - math.log(e.number("V"))
    return (
        -0.3 < excess < START_ABOVE and float(_logits(e, "influence.changed", *_rows(e)).std()) > 0
    )


def _rows(e: Evidence) -> tuple[int, int]:
    return e.number("T") + 1, e.number("T")


def _length_matters(e: Evidence) -> bool:
    T = e.number("T")
    whole = _logits(e, "influence.changed", T + 1, T)[0, : T - 2]
    return not _same(whole, _logits(e, "influence.shorter", T - 2))


def _sees_no_future(e: Evidence) -> bool:
    seen = _influence(e)
    return not np.triu(seen, 1).any() and not _length_matters(e) and bool(seen.any())


def _sees_its_past(e: Evidence) -> bool:
    return bool(_influence(e)[np.tril_indices(e.number("T"))].all())


def _swaps(e: Evidence) -> Array:
    """(T - 2,) Whether exchanging tokens s and s + 1 moves the last position's logits."""
    T = e.number("T")
    last = _logits(e, "influence.changed", T + 1, T)[0, -1]
    return np.asarray(_moved(_logits(e, "influence.swapped", T - 2), last) > _MOVES)


def _repeats(e: Evidence) -> bool:
    together, again = (_logits(e, f"alone.{n}", 3, e.number("T")) for n in ("together", "again"))
    return _same(together, again)


def _rows_apart(e: Evidence) -> bool:
    together, alone = (_logits(e, f"alone.{n}", 3, e.number("T")) for n in ("together", "alone"))
    return _same(together, alone)


def _heads_count(e: Evidence) -> bool:
    many, one = (_logits(e, f"heads.{n}", 1, e.number("T")) for n in ("many", "one"))
    return not bool(e.shaped("heads.fits", ())) or not _same(many, one)


def _count(e: Evidence, name: str) -> int:
    return int(e.shaped(f"counts.{name}", ()))


def _in_block(e: Evidence) -> float:
    """Numbers in the matrices of a block, as a multiple of C²."""
    more = _count(e, "in_matrices_of_a_block_more") - _count(e, "in_matrices")
    return more / e.number("C") ** 2


def _layers_count(e: Evidence) -> bool:
    return int(e.shaped("stream.later", ())) > 0 and _in_block(e) > 0


def _of_stream(e: Evidence, name: str) -> Array:
    return _logits(e, f"stream.{name}", 2, e.number("T"))


def _stream_passes(e: Evidence) -> bool:
    """Whether a token reaches its own logits through blocks that add nothing."""
    # Without matrices, logits may be the same everywhere: then they say what is asked here.
    found = e.shaped("stream.without_matrices", (2, e.number("T"), e.number("V"))).astype(float)
    differ = e.inputs["tokens"] != e.inputs["other"]
    apart = np.abs(found[0] - found[1]).max(axis=-1)[differ] / _of_stream(e, "whole").std()
    return bool(np.isfinite(found).all() and (apart > _MOVES).all())


def _norm_kind(e: Evidence) -> str:
    """ "before", "after" or "none": where blocks normalize."""
    T = e.number("T")
    large = _standard(_logits(e, "norms.large", 1, T))
    switched_off = e.shaped("norms.without", (1, T, e.number("V"))).astype(float)
    if np.ptp(switched_off) > 1e-6 and np.abs(large - _standard(switched_off)).max() < 0.1:
        return "before"
    without = e.shaped("stream.without", (2, T, e.number("V"))).astype(float)
    without_later, short = without, _of_stream(e, "short")
    return "none" if _same(short, without_later) else "after"


def _standard(logits: Array) -> Array:
    centered = logits - logits.mean(axis=-1, keepdims=True)
    return np.asarray(centered / np.maximum(centered.std(axis=-1, keepdims=True), 1e-12))


def _ends_with_norm(e: Evidence) -> bool:
    T = e.number("T")
    growth = _logits(e, "norms.large", 1, T).std() / _logits(e, "norms.usual", 1, T).std()
    return bool(math.log(growth) / math.log(LARGE) < _GROWTH_WITHOUT_LAST_NORM)


def _normalizes(e: Evidence) -> bool:
    if _no_distribution(e):  # in probabilities, it depends on the draw whether norms can be seen
        return False
    return _norm_kind(e) != "none" and _ends_with_norm(e) and _layers_count(e)


def _counts_as_said(e: Evidence) -> bool:
    C = e.number("C")
    symbol, position = (_count(e, f"a_{n}_more") - _count(e, "of") for n in ("symbol", "position"))
    in_block = _FEWEST <= _in_block(e) <= _MOST
    return in_block and symbol in (C, C + 1, 2 * C, 2 * C + 1) and 0 <= position <= 2 * C


def _unreached(e: Evidence) -> list[str]:
    names = str(e.answers.values["gradients.names"]).split("\n")
    largest = e.shaped("gradients.largest", (len(names),))
    if len(names) < 4 or not np.isfinite(largest).all():
        raise ValueError("there are hardly any parameters")
    return [name for name, size in zip(names, largest, strict=True) if size <= 0]


@lru_cache(maxsize=64)
def _found(
    names: str,
    state: tuple[bytes, ...],
    shapes: tuple[tuple[int, ...], ...],
    sizes: tuple[int, int, int, int],
    tokens: bytes,
    logits: bytes,
) -> role_map.Form | None:
    """How a program uses its weights, if it has the parts of chapter 08."""
    V, T, C, H = sizes
    arrays = [
        torch.from_numpy(np.frombuffer(one, dtype=np.float32).reshape(shape).copy())
        for one, shape in zip(state, shapes, strict=True)
    ]
    learned, _, kept = names.partition("\n\n")
    own = learned.split("\n")
    buffers = dict(zip(kept.split("\n"), arrays[len(own) :], strict=False)) if kept else {}
    asked = torch.from_numpy(np.frombuffer(tokens, dtype=np.int64).reshape(2, T).copy())
    given = torch.from_numpy(np.frombuffer(logits, dtype=np.float32).reshape(2, T, V).copy())
    try:
        config = Config(V, T, 1, H, C)
        return role_map.find(
            dict(zip(own, arrays, strict=False)), config, asked, given, buffers, most=48
        ).form
    except (CheckpointError, RuntimeError, ValueError):  # any program may come, with any shapes
        return None


def _form(e: Evidence) -> role_map.Form | None:
    names = str(e.answers.values["state.names"])
    arrays = []
    for kind in ("parameters", "buffers"):
        number_of = 0
        while (one := e.answers.array(f"state.{kind}.{number_of}")) is not None:
            arrays.append(np.asarray(one, dtype=np.float32))
            number_of += 1
    V, T, C, H = _sizes(e)
    logits = _logits(e, "state.logits", 2, T).astype(np.float32)
    tokens = np.stack([e.inputs["tokens"], e.inputs["other"]])
    if sum(one.size for one in arrays) > 40 * C * C + 4 * V * C + 4 * T * C + 4 * T * T + 10_000:
        return None
    return _found(
        names,
        tuple(one.tobytes() for one in arrays),
        tuple(one.shape for one in arrays),
        (V, T, C, H),
        tokens.tobytes(),
        logits.tobytes(),
    )


def _computes_as_said(e: Evidence) -> bool:
    form = _form(e)
    return _counts_as_said(e) and (
        form is None or (form.scale == "√D" and form.activation != "none")
    )


# --- What is said -----------------------------------------------------------------------------

_CALLS = {
    "start": "when it was called with tokens (B, T) and targets (B, T)",
    "counts": "when it was made with other sizes",
    "influence": "when it read texts of block_size symbols, and shorter ones",
    "alone": "when it read three texts, and each alone",
    "heads": "when it was made with one head",
    "stream": "when it was made with one block and with three",
    "norms": "when its embeddings were made larger",
    "gradients": "when its loss went backward",
    "state": "when its weights were read",
}


def _error(e: Evidence) -> Finding | None:
    return stopped(e, {case: f"asked {when}" for case, when in _CALLS.items()}, PROGRAM)


_LOGITS = ("start.logits", "influence.changed", "alone.together", "stream.whole", "norms.usual")


def _not_finite(e: Evidence) -> Finding | None:
    for name in _LOGITS:
        found = e.answers.array(name)
        if found is not None and found.dtype.kind == "f" and not np.isfinite(found).all():
            where = np.argwhere(~np.isfinite(found))[0]
            return Finding(
                "not-a-number",
                "Some of your logits are not numbers.",
                f"The first is at position {where[-2]} of a text. A row of scores in which "
                "everything is hidden gives NaN: the first position has to see itself. A division "
                "by 0 and a logarithm of 0 do as well.",
                Section("05-head", "Nothing from the future"),
            )
    return None


def _no_distribution(e: Evidence) -> bool:
    logits = _logits(e, "start.logits", START_ROWS, e.number("T"))
    return bool((logits >= 0).all() and np.allclose(logits.sum(axis=-1), 1, atol=1e-3))


def _loss_told(e: Evidence) -> str:
    right, mine, many = _cross_entropy(e, "gradients"), _loss(e), START_ROWS * e.number("T")
    told = f"Your loss is {number(mine, 4)}, and the mean cross-entropy of your logits with the "
    told += f"targets is {number(right, 4)}. "
    for times, how in ((many, "all tokens"), (e.number("T"), "positions"), (START_ROWS, "texts")):
        if math.isclose(mine, right * times, rel_tol=1e-3):
            return (
                told + f"It is {times} times as large, so you add up over {how} and don't average."
            )
    return told + "Is it of the same logits, with targets at the same places?"


def _start_told(e: Evidence) -> str:
    first, V = _cross_entropy(e), e.number("V")
    return (
        f"A model that knows nothing has ln {V} = {math.log(V):.2f}, and yours begins with "
        f"{first:.2f}. Its logits are too large: give matrices and embeddings small weights, such "
        "as normal ones with std 0.02. `nn.Embedding` begins with 1, and shares that with a tied "
        "output."
    )


def _all_future(e: Evidence) -> bool:
    return bool(_influence(e)[np.triu_indices(e.number("T"), 1)].all())


def _turned_around(e: Evidence) -> bool:
    return _all_future(e) and not np.tril(_influence(e), -1).any()


def _one_ahead(e: Evidence) -> bool:
    seen = np.triu(_influence(e), 1)
    T = e.number("T")
    return bool(seen[np.arange(T - 1), np.arange(1, T)].all() and not np.triu(seen, 2).any())


def _future_told(e: Evidence) -> str:
    t, s = (int(i) for i in np.argwhere(np.triu(_influence(e), 1))[0])
    many, of = int(np.triu(_influence(e), 1).sum()), e.number("T") * (e.number("T") - 1) // 2
    return (
        f"When token {s} changes, the logits at position {t} change, too. That is so in {many} of "
        f"{of} pairs of a position and a later token, in a model of one block."
    )


def _past_told(e: Evidence) -> str:
    seen = _influence(e)
    t, s = (int(i) for i in np.argwhere(np.tril(~seen))[-1])
    visible = listed(np.flatnonzero(seen[t]))
    return (
        f"The logits at position {t} are the same whatever token {s} is. What they depend on is: "
        f"{visible or 'nothing'}."
    )


def _queries(e: Evidence) -> bool:
    form = _form(e)
    return not _sees_no_future(e) and form is not None and form.over == "queries"


def _block_told(e: Evidence) -> str:
    C, found = e.number("C"), _in_block(e)
    return (
        f"With n_embd = {C}, the matrices of one block hold {found * C * C:.0f} numbers, which is "
        f"{number(found)} · C². The contract counts 12 · C²: 4 for queries, keys, values and the "
        "projection, 8 for the feed-forward layers, or up to 12 with a gate."
    )


def _outside_told(e: Evidence) -> str:
    C = e.number("C")
    symbol, position = (_count(e, f"a_{n}_more") - _count(e, "of") for n in ("symbol", "position"))
    return (
        f"With n_embd = {C}, one symbol more costs {symbol} parameters, and one position more "
        f"{position}. A symbol has a row of {C} in the embedding and one in the output, or one for "
        f"both; a position has {C} that are added to x, some that are added to scores, or none."
    )


def _unreached_told(e: Evidence) -> str:
    names = _unreached(e)
    shown = ", ".join(f"`{name}`" for name in names[:4])
    return (
        f"No gradient reaches {shown}{' and others' if len(names) > 4 else ''}. Is it made in "
        "`__init__` and not used in `forward`, or cut off by `detach` or `no_grad`?"
    )


_SCORES = Section("05-head", "Why the scale is the head size")
_STREAM = Section("07-block", "The residual stream")
_MASK = Section("05-head", "Nothing from the future")

_EXPLAINED = (
    _error,
    _not_finite,
    finding(
        "returns-probabilities",
        "Your `GPT` returns probabilities instead of logits.",
        PROGRAM,
        _no_distribution,
        lambda _: (
            "Each row sums to 1. `cross_entropy` takes the softmax itself, and takes another "
            "one of these. Return what the output layer gives."
        ),
    ),
    finding(
        "wrong-loss",
        "Your loss is not the mean cross-entropy of your logits.",
        PROGRAM,
        lambda e: not _loss_is_right(e),
        _loss_told,
    ),
    finding(
        "not-repeatable",
        "In evaluation mode, your model gives different logits for the same tokens.",
        Section("08-gpt", "Writing to the end"),
        lambda e: not _repeats(e),
        lambda _: (
            "Dropout has to stop after `model.eval()`: `nn.Dropout` does, and `F.dropout` "
            "needs `training=self.training`."
        ),
    ),
    finding(
        "rows-mixed",
        "A text has other logits when other texts are in its batch.",
        PROGRAM,
        lambda e: not _rows_apart(e),
        lambda _: (
            "The three rows of a batch should be three models of their own. Does something "
            "run along the axis B: a softmax, a norm, a `view` that cuts elsewhere?"
        ),
    ),
    finding(
        "softmax-over-queries",
        "Your softmax runs over the queries, so weights of one position depend on later ones.",
        _MASK,
        _queries,
        lambda e: (
            f"{_future_told(e)} With these weights, a softmax along `dim=-2` gives your "
            "logits. Each query shares out 1 among keys: `dim=-1`."
        ),
    ),
    finding(
        "one-ahead",
        "Each position sees one token too many, the next one.",
        _MASK,
        _one_ahead,
        lambda e: f"{_future_told(e)} A mask that hides from the diagonal `2` on begins too late.",
    ),
    finding(
        "mask-turned-around",
        "Your mask hides the past and shows the future.",
        _MASK,
        _turned_around,
        lambda e: (
            f"{_future_told(e)} Row t of the mask belongs to the query, and keys 0 to t stay: "
            "`tril`."
        ),
    ),
    finding(
        "no-causal-mask",
        "Every position sees the whole future.",
        _MASK,
        _all_future,
        lambda e: (
            f"{_future_told(e)} Is there a mask, is what `masked_fill` returns used, and is "
            "the future filled with −inf before the softmax?"
        ),
    ),
    finding(
        "length-matters",
        "The same tokens have other logits when fewer tokens follow.",
        _MASK,
        lambda e: not np.triu(_influence(e), 1).any() and _length_matters(e),
        lambda _: (
            "No token of the future is seen, but how many there are is. Do positions count "
            "from the end, or is something divided by T?"
        ),
    ),
    finding(
        "sees-the-future",
        "Some positions see tokens that come later.",
        _MASK,
        lambda e: not _sees_no_future(e),
        lambda e: (
            f"{_future_told(e)} A `view` that cuts heads without `transpose` mixes positions "
            "and heads; a norm, a softmax or a mean along T does as well."
        ),
    ),
    finding(
        "only-itself",
        "No position sees anything but itself.",
        _MASK,
        lambda e: not np.tril(_influence(e), -1).any() and bool(_influence(e).any()),
        lambda e: (
            f"{_past_told(e)} Is the mask turned around, or the softmax taken over an axis "
            "of length 1?"
        ),
    ),
    finding(
        "past-unseen",
        "Some positions don't see all of their past.",
        _MASK,
        lambda e: not _sees_its_past(e),
        _past_told,
    ),
    finding(
        "no-positions",
        "Your model doesn't notice the order of the tokens.",
        Section("05-head", "No order without positions"),
        lambda e: not _swaps(e).any(),
        lambda _: (
            "With one block, exchanging two neighbors in the past leaves the last position's "
            "logits as they were, whichever two they are. Are positions embedded, and added to x?"
        ),
    ),
    finding(
        "positions-alike",
        "Some positions are the same to your model.",
        Section("05-head", "No order without positions"),
        lambda e: not _swaps(e).all(),
        lambda e: (
            "With one block, the last position's logits stay the same when the tokens at "
            f"{int(np.argwhere(~_swaps(e))[0, 0])} and the place after it are exchanged."
        ),
    ),
    finding(
        "blocks-not-registered",
        "Your blocks are not among the model's parameters.",
        Section("08-gpt", "The whole program"),
        lambda e: (
            not _layers_count(e)
            and _count(e, "in_matrices")
            < 4 * e.number("C") ** 2 + 2 * e.number("C") * (e.number("V") + e.number("T"))
        ),
        lambda e: (
            f"The model has {_count(e, 'of')} parameters with two blocks, and as many with "
            "three. Modules in a Python list are not found; put them into an `nn.ModuleList` or an "
            "`nn.Sequential`."
        ),
    ),
    finding(
        "n-layer-ignored",
        "Your model has as many parameters with three blocks as with two.",
        PROGRAM,
        lambda e: not _layers_count(e),
        lambda _: (
            "Either n_layer isn't used, or one and the same block is used several times. "
            "Each block needs weights of its own."
        ),
    ),
    finding(
        "no-residual",
        "What a block reads is lost, because its branch isn't added to it.",
        _STREAM,
        lambda e: not _stream_passes(e),
        lambda _: (
            "With all matrices of the later blocks set to 0, the logits no longer depend on "
            "the tokens. `x = x + branch(x)` would leave x as it was, in both branches."
        ),
    ),
    finding(
        "n-head-ignored",
        "Your model computes the same with one head as with several.",
        Section("06-heads", "Subspaces"),
        lambda e: not _heads_count(e),
        lambda e: (
            f"With the same weights, n_head = {e.number('H')} and n_head = 1 give the same "
            "logits. Cut queries, keys and values into heads before the scores are computed."
        ),
    ),
    finding(
        "no-norm",
        "Your blocks don't normalize.",
        _STREAM,
        lambda e: _norm_kind(e) == "none",
        lambda _: (
            "When the stream is a thousand times as large, what the blocks add grows as "
            "well. Normalize what each branch reads, or the sum after each branch."
        ),
    ),
    finding(
        "no-last-norm",
        "There is no norm before the output.",
        PROGRAM,
        lambda e: not _ends_with_norm(e),
        lambda _: (
            "Your logits grow with the stream. All blocks add to it, so normalize it "
            "before the output layer, too."
        ),
    ),
    finding(
        "block-miscounted",
        "The matrices of a block are not those of the contract.",
        PROGRAM,
        lambda e: not _FEWEST <= _in_block(e) <= _MOST,
        _block_told,
    ),
    finding(
        "ends-miscounted",
        "Embeddings and output are not those of the contract.",
        PROGRAM,
        lambda e: not _counts_as_said(e),
        _outside_told,
    ),
    finding(
        "unreached-parameters",
        "Some parameters learn nothing.",
        PROGRAM,
        lambda e: bool(_unreached(e)),
        _unreached_told,
    ),
    finding(
        "wrong-scale",
        "Your scores are not divided by √D.",
        _SCORES,
        lambda e: (form := _form(e)) is not None and form.scale != "√D",
        lambda e: (
            f"With these weights, scores divided by {getattr(_form(e), 'scale', '')} give "
            f"your logits. Here C = {e.number('C')}, and D = {e.number('C') // e.number('H')}."
        ),
    ),
    finding(
        "no-activation",
        "There is nothing between the two feed-forward layers.",
        Section("07-block", "A feed-forward network for each position"),
        lambda e: (form := _form(e)) is not None and form.activation == "none",
        lambda _: (
            "With these weights, two linear layers in a row give your logits, and those can "
            "only do what one could. Put a ReLU or a GELU between them."
        ),
    ),
    finding(
        "starts-high",
        "Your model doesn't begin near ln V.",
        START,
        lambda e: _cross_entropy(e) >= math.log(e.number("V")) + START_ABOVE,
        _start_told,
    ),
    lambda _: Finding(
        "says-nothing",
        "Your `GPT` gives logits that depend on nothing, or not the results that were asked for.",
        "Called with tokens (B, T) and targets (B, T), it should return logits (B, T, V) and the "
        "loss.",
        PROGRAM,
    ),
)


TASK = Task(
    "The model",
    GPT,
    PROGRAM,
    (
        Part("Tokens and targets give logits (B, T, V) and their loss.", 2, _loss_is_right),
        Part("The first loss is near ln V.", 2, _starts_near),
        Part("No position sees the future.", 2, _sees_no_future),
        Part("Every position sees itself and all of its past.", 2, _sees_its_past),
        Part("The order of tokens matters.", 1, lambda e: bool(_swaps(e).all())),
        Part(
            "Texts are read apart, and twice the same.", 1, lambda e: _repeats(e) and _rows_apart(e)
        ),
        Part("There are n_head heads.", 1, _heads_count),
        Part(
            "n_layer blocks add to the stream.", 2, lambda e: _layers_count(e) and _stream_passes(e)
        ),
        Part("Blocks normalize, and the output reads a normalized stream.", 1, _normalizes),
        Part("Matrices are those of the contract, and used as it says.", 1, _computes_as_said),
        Part("Every parameter learns.", 1, lambda e: not _unreached(e)),
    ),
    explained=_EXPLAINED,
)
