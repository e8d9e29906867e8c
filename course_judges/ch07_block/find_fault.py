"""Judges 07/find-fault: an inspector that tells faulty blocks from correct ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from course_judges.ch07_block.faults import EARLIER, FAINT, FAINTISH, FORMS, LATER
from course_judges.ch07_block.sections import AXIS, BLOCK, STREAM
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array
from course_tasks.ch07_block.find_fault import BLOCKS, FAULTS
from course_tasks.ch07_block.suspects import SHOWS, BlockBehavior, suspect
from course_tasks.inputs import Rng, whole
from course_tasks.probing import Inputs
from course_tasks.verdict import Finding

Block = Callable[[Tensor], Tensor]
Inspector = Callable[[Block, int, int, int], dict[str, bool]]
Asked = Callable[[Block, Tensor], bool]


def _apart(a: Tensor, b: Tensor) -> bool:
    return bool((a - b).abs().max() > 1e-6)


def _future(block: Block, x: Tensor) -> bool:
    """True if an output depends on a later position."""
    changed, t = x.clone(), x.shape[1] // 2
    changed[:, t:] = torch.randn_like(changed[:, t:])
    return _apart(block(changed)[:, :t], block(x)[:, :t])


def _batch(block: Block, x: Tensor) -> bool:
    """True if an output depends on another sample."""
    found, y = False, block(x)
    for b in range(len(x)):
        changed = x.clone()
        changed[b] = torch.randn_like(x[b])
        others = torch.arange(len(x)) != b
        found |= _apart(block(changed)[others], y[others])
    return found


def _another_order(block: Block, x: Tensor) -> bool:
    order = torch.arange(len(x)).roll(1)
    return _apart(block(x[order]), block(x)[order])


def _stream(block: Block, x: Tensor) -> bool:
    """True if a constant that is added to the stream doesn't come out unchanged."""
    return _apart(block(x + 3.0), block(x) + 3.0)


def _inspector(
    future: Asked = _future, batch: Asked = _batch, stream: Asked = _stream
) -> Inspector:
    def answer(block: Block, B: int, T: int, C: int) -> dict[str, bool]:
        x = torch.randn(B, T, C, dtype=torch.float64)
        return {"future": future(block, x), "batch": batch(block, x), "stream": stream(block, x)}

    return answer


inspect_block = _inspector()


def _constant_future(block: Block, x: Tensor) -> bool:
    changed, t = x.clone(), x.shape[1] // 2
    changed[:, t:] += 5.0
    return _apart(block(changed)[:, :t], block(x)[:, :t])


def _first_position(block: Block, x: Tensor) -> bool:
    changed = x.clone()
    changed[:, 1:] = torch.randn_like(x[:, 1:])
    return _apart(block(changed)[:, 0], block(x)[:, 0])


def _last_sample(block: Block, x: Tensor) -> bool:
    changed = x.clone()
    changed[-1] = torch.randn_like(x[-1])
    return _apart(block(changed)[:-1], block(x)[:-1])


def _one_feature(block: Block, x: Tensor) -> bool:
    step = torch.zeros_like(x)
    step[..., 0] = 3.0
    return _apart(block(x + step), block(x) + step)


def _ratio_of_large_numbers(block: Block, x: Tensor) -> bool:
    large = 1000 * x
    return bool((block(large) / large - 1).abs().max() > 0.01)


def _stream_moves(block: Block, x: Tensor) -> bool:
    return not _apart(block(x + 3.0), block(x))


def _first_fault_alone(block: Block, B: int, T: int, C: int) -> dict[str, bool]:
    found = inspect_block(block, B, T, C)
    first = next((fault for fault in FAULTS if found[fault]), "")
    return {fault: fault == first for fault in FAULTS}


def _column(fault: str) -> tuple[str, ...]:
    return tuple(f"block_{i}.{fault}" for i in range(BLOCKS))


def _shown(evidence: Evidence, i: int, fault: str) -> bool:
    """True if the inspector's runs of a block can show whether it has this fault."""
    if f"block_{i}.runs.{fault}.1" not in evidence.answers.values:
        derivatives = evidence.yours(f"block_{i}.runs.derivatives")
        return derivatives.size == 1 and bool(derivatives.item() > 0)
    runs = [evidence.yours(f"block_{i}.runs.{fault}.{k}") for k in (0, 1)]
    # A recorder keeps real numbers, some of them in each direction: anything else is forged.
    if any(one.ndim != 3 or one.dtype.kind != "f" or not one.size for one in runs):
        return False
    first, second = runs
    return first.shape[2] == second.shape[2] and SHOWS[fault](first, second)


def _unshown(evidence: Evidence, fault: str) -> list[int]:
    return [i for i in range(BLOCKS) if not _shown(evidence, i, fault)]


def _found(fault: str) -> Callable[[Evidence], bool]:
    """True if every block is judged correctly, after runs that could show it."""
    return lambda e: e.same(*_column(fault)) and not _unshown(e, fault)


_NEEDED = {
    "future": "two inputs that begin alike and continue differently",
    "batch": "one sample in two different batches",
    "stream": "two inputs that differ by what a norm subtracts, or one with huge numbers",
}


def _not_run(evidence: Evidence) -> Finding | None:
    """Speaks if blocks are judged without the runs that could show a fault."""
    for fault in FAULTS:
        blocks = _unshown(evidence, fault)
        if blocks:
            return Finding(
                "not-run",
                f"Your runs of the blocks can't show whether they have the fault `{fault}`.",
                f"{len(blocks)} of {BLOCKS} blocks never got {_NEEDED[fault]}, and you didn't take"
                " a derivative through them. An answer only counts if your runs can show it.",
                BLOCK,
            )
    return None


def _errors(evidence: Evidence, fault: str) -> tuple[list[str], list[str]]:
    """Names of the blocks whose fault was missed, and of those accused without reason."""
    missed: list[str] = []
    accused: list[str] = []
    names = list(FORMS)
    for i, which in enumerate(evidence.inputs["order"]):
        mine = bool(evidence.yours(f"block_{i}.{fault}"))
        right = bool(evidence.right(f"block_{i}.{fault}"))
        if mine != right:
            (accused if mine else missed).append(names[int(which)])
    return missed, accused


def _misjudged(*faults: str) -> Callable[[Evidence], str]:
    """Which blocks were missed, and which were accused without reason."""

    def say(evidence: Evidence) -> str:
        sentences = []
        for fault in faults:
            missed, accused = (
                ", ".join(f"“{name}”" for name in names) for names in _errors(evidence, fault)
            )
            told = [f"misses {missed}"] * bool(missed)
            told += [f"wrongly accuses {accused}"] * bool(accused)
            if told:
                sentences.append(f"your `{fault}` {' and '.join(told)}")
        return f"Of {len(FORMS)} blocks, {', and '.join(sentences)}."

    return say


def _in_all(errors: Mapping[str, tuple[list[str], list[str]]]) -> str:
    """A question, if what was missed shows only at some positions or in some samples."""
    if errors["stream"][0]:
        return ""
    return " Or do you ask for a change at every position, or in every sample? One is enough."


def _faint_missed(evidence: Evidence) -> Finding | None:
    """Speaks if no block is accused without reason and the missed faults are faint ones."""
    errors = {fault: _errors(evidence, fault) for fault in FAULTS}
    faint = [name in FAINT[fault] for fault, (missed, _) in errors.items() for name in missed]
    clear = [
        name not in FAINT[fault] | FAINTISH
        for fault, (missed, _) in errors.items()
        for name in missed
    ]
    if any(accused for _, accused in errors.values()) or not any(faint) or any(clear):
        return None
    return Finding(
        "faint-missed",
        "You miss faults that change the outputs only a little.",
        unwrapped(f"""{_misjudged(*FAULTS)(evidence)} With an `x` from `torch.randn` these faults
        change outputs by a few tenths, while rounding changes them by less than 0.00001. A
        tolerance of 1e-4 lies in between.{_in_all(errors)}"""),
        BLOCK,
    )


# Numbers with a larger standard deviation were made large on purpose.
_MUCH = 50.0
# Next to large numbers, a ratio of output and input that is off by more fails a usual tolerance.
_NOTABLE = 0.01

# How a fault shows.
_SIGNS = {
    "future": "an output changes when you change only later positions of the input",
    "batch": "an output of one sample changes when you change only other samples",
    "stream": "for x + c, with one number c everywhere, the output differs from the old one plus c",
}


def _some_misjudged(evidence: Evidence) -> Finding | None:
    """Which blocks are misjudged, if no cause is known."""
    wrong = [fault for fault in FAULTS if any(_errors(evidence, fault))]
    if not wrong:
        return None
    fault = wrong[0]
    missed, accused = _errors(evidence, fault)
    if missed and accused:
        what = "misses some faults and accuses some blocks without reason."
    elif missed:
        what = f"misses {'a faulty block' if len(missed) == 1 else 'faulty blocks'}."
    else:
        what = f"accuses {'a block' if len(accused) == 1 else 'blocks'} without reason."
    enough = (
        ", and do you change the input by much more than your tolerance"
        if missed and not accused
        else ""
    )
    return Finding(
        "misses-blocks" if missed and not accused else "accuses-blocks",
        f"Your test of `{fault}` {what}",
        f"{_misjudged(*wrong)(evidence)} A block has the fault `{fault}` if {_SIGNS[fault]}, by"
        f" more than rounding. Is that what you compare{enough}?"
        f"{_reported_otherwise(evidence, fault)}",
        BLOCK,
    )


def _reported_otherwise(evidence: Evidence, fault: str) -> str:
    """A question, if every block that was missed is accused of another of its faults, or every one
    accused has another fault.
    """
    missed, accused = _errors(evidence, fault)
    others = [one for one in FAULTS if one != fault]
    names = list(FORMS)
    places = {names[int(which)]: i for i, which in enumerate(evidence.inputs["order"])}

    def holds(side: Callable[[str], Array], name: str) -> bool:
        return any(bool(side(f"block_{places[name]}.{one}")) for one in others)

    if missed and not accused and all(holds(evidence.yours, name) for name in missed):
        return (
            " You do report another fault there. Or does one test skip the other, as with `elif`?"
        )
    if accused and not missed and all(holds(evidence.right, name) for name in accused):
        return (
            " What you accuse does have another fault. Or does one answer include another's test?"
        )
    return ""


def _only_missed(evidence: Evidence, fault: str, block: str) -> bool:
    """True if the only error is that this fault of this block was missed."""
    errors = {name: _errors(evidence, name) for name in FAULTS}
    return errors == dict.fromkeys(FAULTS, ([], [])) | {fault: ([block], [])}


def _samples_moved(evidence: Evidence) -> bool:
    """True if the only error is a missed norm over the batch, and for every block the two runs that
    share a sample hold the same samples in another order.
    """
    return _only_missed(evidence, "batch", "norm over the batch") and all(
        f"block_{i}.runs.batch.1" in evidence.answers.values
        and _same_samples(*(evidence.yours(f"block_{i}.runs.batch.{k}") for k in (0, 1)))
        for i in range(BLOCKS)
    )


def _same_samples(one: Array, other: Array) -> bool:
    """True if two inputs (B, T, C) hold the same samples, in any order."""
    both = (sorted(sample.tobytes() for sample in batch) for batch in (one, other))
    return next(both) == next(both)


def _nudged_by_a_constant(evidence: Evidence) -> bool:
    """True if the change at later positions, or that of a sample, is the same for all features."""
    if _errors(evidence, "future") != (["mask of −3"], []):
        return _nudged_a_sample(evidence)
    first, second = (evidence.yours(f"block_0.runs.future.{k}") for k in (0, 1))
    return any(
        np.array_equal(p[0], q[0])
        and 0 < np.abs(q - p).max()
        and np.ptp(q - p, axis=-1).max() < 1e-5
        for p in first
        for q in second
    )


def _nudged_a_sample(evidence: Evidence) -> bool:
    """True if weak attention to other samples is missed in both directions, and the samples that
    change do so by the same number for all features of a position.
    """
    missed, accused = _errors(evidence, "batch")
    if set(missed) != {EARLIER, LATER} or accused:
        return False
    first, second = (evidence.yours(f"block_0.runs.batch.{k}") for k in (0, 1))
    if first.shape != second.shape:
        return False
    change = second - first
    return bool(np.abs(change).max() > 0 and np.ptp(change, axis=-1).max() < 1e-5)


def _one_way(evidence: Evidence) -> str:
    """The block with attention to earlier or to later samples, if it is all that was missed."""
    return next((b for b in (EARLIER, LATER) if _only_missed(evidence, "batch", b)), "")


def _one_fault_each(evidence: Evidence) -> bool:
    """True if no block is accused of more than one fault, and only further faults are missed."""
    errors = {fault: _errors(evidence, fault) for fault in FAULTS}
    missed = [name for names, _ in errors.values() for name in names]
    several = [
        sum(bool(evidence.right(f"block_{i}.{fault}")) for fault in FAULTS) for i in range(BLOCKS)
    ]
    told = [
        sum(bool(evidence.yours(f"block_{i}.{fault}")) for fault in FAULTS) for i in range(BLOCKS)
    ]
    return (
        not any(accused for _, accused in errors.values())
        and len(missed) == sum(n - 1 for n in several if n > 1)
        and told == [min(n, 1) for n in several]
    )


def _only_zeros(evidence: Evidence) -> bool:
    """True if the three blocks with another stream are missed, from inputs of zeros alone."""
    missed, accused = _errors(evidence, "stream")
    return (
        len(missed) == sum(bool(evidence.right(name)) for name in _column("stream"))
        and not accused
        and all(
            f"block_{i}.runs.stream.1" in evidence.answers.values
            and not evidence.yours(f"block_{i}.runs.stream.1").any()
            for i in range(BLOCKS)
        )
    )


def _place_of_sound(evidence: Evidence) -> int:
    return list(evidence.inputs["order"]).index(list(FORMS).index("sound"))


def _accuses_the_sound_stream(evidence: Evidence) -> bool:
    return bool(evidence.yours(f"block_{_place_of_sound(evidence)}.stream"))


def _accuses_beside_large_numbers(evidence: Evidence) -> bool:
    """True if a sound block is accused, and its first run that can show a lost stream has entries
    that are large even without their mean, and others so near 0 that the output isn't about equal
    to them.
    """
    if not _accuses_the_sound_stream(evidence):
        return False
    if f"block_{_place_of_sound(evidence)}.runs.stream.1" not in evidence.answers.values:
        return False
    x, y, place = _sound_run(evidence)
    return bool(x.std(axis=-1).max() > _MUCH and abs(y[place] / x[place] - 1) > _NOTABLE)


def _sound_run(evidence: Evidence) -> tuple[Array, Array, tuple[int, ...]]:
    """An input of the sound block, its output, and the place at which their ratio is farthest from
    1.
    """
    x = evidence.yours(f"block_{_place_of_sound(evidence)}.runs.stream.1")
    weights, gains = (torch.from_numpy(evidence.inputs[name]) for name in ("weights", "gains"))
    y = suspect(FORMS["sound"], weights, gains, torch.from_numpy(x)).numpy()
    off = np.abs(np.divide(y, x, out=np.ones_like(x), where=x != 0) - 1)
    place = np.unravel_index(off.argmax(), x.shape)
    return x, y, tuple(int(i) for i in place)


def _next_to_large_numbers(evidence: Evidence) -> str:
    """How much the sound block changes a large input, and by what factor one of its entries."""
    x, y, place = _sound_run(evidence)
    return unwrapped(f"""The sound block was given numbers up to {np.abs(x).max():.0f} and changed
    them by at most {number(float(np.abs(y - x).max()))}. That is little compared with the largest,
    but where `x` is {number(float(x[place]))}, `block(x) / x` is
    {number(float(y[place] / x[place]))}.""")


def _exchanged(evidence: Evidence) -> bool:
    places = range(BLOCKS)
    swapped = all(
        bool(evidence.yours(f"block_{i}.{mine}")) == bool(evidence.right(f"block_{i}.{right}"))
        for i in places
        for mine, right in (("future", "batch"), ("batch", "future"))
    )
    return swapped and not evidence.same(*_column("future"))


def _nothing_moves(evidence: Evidence) -> bool:
    columns = _column("future") + _column("batch")
    return not any(bool(evidence.yours(name)) for name in columns)


def _any_stream_will_do(evidence: Evidence) -> bool:
    """True if the only missed blocks are those that pass on a changed stream."""
    missed, accused = _errors(evidence, "stream")
    kept = {"post-norm", "residual times 1.05"}
    return not accused and set(missed) == kept and not _unshown(evidence, "stream")


# Why a test may be True for every block.
_OF_ALWAYS = unwrapped("""There are a few common causes. Has the input changed since you computed
the output that you compare with? Then `clone()` it first. Does a True from one block stay for the
next ones? Then start from False in each call.""")


def _always(block: Block, x: Tensor) -> bool:  # noqa: ARG001
    return True


def _never(block: Block, x: Tensor) -> bool:  # noqa: ARG001
    return False


def _inputs(rng: Rng) -> Inputs:
    """Blocks in any order; the probe must not know them by name."""
    # No dimension is half of another or one more than half, so that a wrong axis doesn't fit by
    # chance. Half of C is a position inside the text, just like half of T. A quarter of T is
    # position 1, and the only position before it reads nothing of a faint future.
    B, C = int(rng.integers(4, 6)), int(rng.choice([9, 11]))
    T = int(rng.choice([6, 7])) if B == 5 else 6
    order = rng.permutation(BLOCKS)
    forms = [list(FORMS.values())[i] for i in order]
    return {
        # Scores small enough that no faint position gets a large weight by chance.
        "weights": rng.normal(size=(2, C, C)) / np.sqrt(C) * np.array([[[0.5]], [[1.0]]]),
        "gains": rng.uniform(0.5, 1.5, (2, C)),
        **{
            part: np.stack(arrays)
            for part, *arrays in zip(BlockBehavior._fields, *forms, strict=True)
        },
        "order": order,
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "seed": whole(int(rng.integers(2**31))),
    }


@mistake(
    "You mixed up `future` and `batch`.",
    lambda e: unwrapped(f"""For every block, your answer to one is right for the other. Dimension 0
    holds the samples and dimension 1 the positions. {_misjudged("future")(e)}"""),
    AXIS,
    recognized=_exchanged,
)
def _axes_exchanged(block: Block, B: int, T: int, C: int) -> dict[str, bool]:
    found = inspect_block(block, B, T, C)
    return {**found, "future": found["batch"], "batch": found["future"]}


def _turned_round(evidence: Evidence) -> str:
    """The first fault for which the answer is wrong for every block; empty if there is none."""
    for fault in FAULTS:
        if all(bool(evidence.yours(n)) != bool(evidence.right(n)) for n in _column(fault)):
            return fault
    return ""


_answers_turned_round = mistake(
    lambda e: f"For every block, your answer to `{_turned_round(e)}` is the opposite of the truth.",
    lambda e: unwrapped(f"""{_misjudged(_turned_round(e))(e)} True should mean a fault, but
    `torch.allclose` is True if there is none."""),
    recognized=lambda e: bool(_turned_round(e)),
)(_inspector(future=lambda block, x: not _future(block, x)))

_nothing_changed = mistake(
    "You don't find a leak in any block, although some blocks leak.",
    lambda e: unwrapped(f"""{_misjudged("future", "batch")(e)} There are two common causes. After
    `changed = x` both names mean the same tensor, so both runs see the same numbers: use
    `x.clone()`. Or your tolerance is so wide that all outputs count as equal: 1e-4 is enough."""),
    recognized=_nothing_moves,
)(_inspector(future=_never, batch=_never))

_constant_nudge = mistake(
    "You changed all features of a position by the same number, but the norm subtracts it again.",
    lambda e: unwrapped(f"""{_misjudged("future")(e)} Use fresh random numbers for what you change:
    for later positions when you test `future`, for a sample when you test `batch`."""),
    AXIS,
    recognized=_nudged_by_a_constant,
)(_inspector(future=_constant_future))

_first_position_only = mistake(
    "You missed a block in which all positions except the first see later ones.",
    lambda e: unwrapped(f"""{_misjudged("future")(e)} In that block only position 0 sees nothing of
    the future, so look at all positions before the change. If you already do, remember that they
    change only a little: a tolerance wider than 1e-4 may hide that, and so may a mean in which
    positive and negative differences cancel."""),
    BLOCK,
    recognized=lambda e: _only_missed(e, "future", "mask of −3") and not _unshown(e, "future"),
)(_inspector(future=_first_position))

_one_fault_for_each_block = mistake(
    "You report only one fault of each block, but a block may have several.",
    lambda e: (
        unwrapped(f"""{_misjudged(*(f for f in FAULTS if any(_errors(e, f))))(e)} Ask all three
    questions of every block. With `elif` or an early `return`, one fault hides the others.""")
    ),
    recognized=_one_fault_each,
)(_first_fault_alone)

_one_direction_only = mistake(
    "You missed a block in which samples see one another in one direction only.",
    lambda e: unwrapped(f"""{_misjudged("batch")(e)} In that block a sample sees
    {
        "the ones before it, but none after it"
        if _one_way(e) == EARLIER
        else "the ones after it, but none before it"
    }. So change each sample in turn, to fresh random
    numbers, and look at all others. They change only a little, so a tolerance wider than 1e-4 may
    hide it, too."""),
    AXIS,
    recognized=lambda e: bool(_one_way(e)),
)(_inspector(batch=_last_sample))

_order_of_samples_only = mistake(
    "You missed a norm over the batch, whose mean and variance don't depend on the samples' order.",
    lambda e: unwrapped(f"""{_misjudged("batch")(e)} The first two of your runs that share a sample
    have the same samples in another order. If that is your test of `batch`, replace one sample by
    fresh random numbers instead and look at the others."""),
    AXIS,
    recognized=_samples_moved,
)(_inspector(batch=_another_order))

_future_always_accused = mistake(
    "You say that every block sees the future, even the sound one.",
    lambda e: unwrapped(f"""{_misjudged("future")(e)} {_OF_ALWAYS} Do you compare outputs at the
    position that you change, or after it? Those may change, but the ones before it may not."""),
    cases=_column("future"),
)(_inspector(future=_always))

_batch_always_accused = mistake(
    "You say that every block mixes samples, even the sound one.",
    lambda e: unwrapped(f"""{_misjudged("batch")(e)} {_OF_ALWAYS} Do you compare the outputs of the
    sample that you change? Those may change, but those of other samples may not."""),
    cases=_column("batch"),
)(_inspector(batch=_always))

_ratio_near_zero = mistake(
    "You gave a sound block large numbers and say that it loses the stream.",
    lambda e: unwrapped(f"""{_misjudged("stream")(e)} {_next_to_large_numbers(e)} If you divide like
    this, or if you compare with a fixed tolerance, set the largest change against the largest
    number instead."""),
    STREAM,
    recognized=_accuses_beside_large_numbers,
)(_inspector(stream=_ratio_of_large_numbers))

_sound_stream_accused = mistake(
    "You say that a sound block loses the stream.",
    lambda e: unwrapped(f"""{_misjudged("stream")(e)} For x + c, with one number c for all features
    and positions, a sound block returns its old output plus c, up to rounding. Is that what you
    compare, and do you return True if it's not so?"""),
    STREAM,
    recognized=_accuses_the_sound_stream,
)(_inspector(stream=_one_feature))

_zeros_given = mistake(
    "You tested `stream` with an input of zeros, from which every block here returns zeros.",
    lambda e: unwrapped(f"""{_misjudged("stream")(e)} Zeros have nothing that a block could pass on.
    Give it x and x + c, or the same number other than 0 everywhere."""),
    STREAM,
    recognized=_only_zeros,
)(_inspector(stream=lambda block, x: _apart(block(0 * x), 0 * x)))

_any_shift_accepted = mistake(
    "You find the block that loses the stream, but not those that pass on a changed stream.",
    lambda e: unwrapped(f"""{_misjudged("stream")(e)} Their outputs do change with the stream, but
    not by the number that you added. Check for exactly that change, up to rounding."""),
    STREAM,
    recognized=_any_stream_will_do,
)(_inspector(stream=_stream_moves))


TASK = Task(
    "Find the fault",
    inspect_block,
    BLOCK,
    (
        Part(
            "Blocks that see the future are found.",
            2,
            _found("future"),
        ),
        Part(
            "Blocks that mix samples are found.",
            2,
            _found("batch"),
        ),
        Part(
            "Blocks that don't carry the stream are found.",
            2,
            _found("stream"),
        ),
    ),
    properties=(_not_run, _faint_missed, _some_misjudged),
    uncompared=("runs",),
    inputs=_inputs,
)
