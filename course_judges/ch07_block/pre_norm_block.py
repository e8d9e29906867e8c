"""Judges 07/pre-norm-block: a pre-norm block with three branches and three norms."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from course_judges.ch07_block import decoder_blocks
from course_judges.ch07_block.generally import more_is_known
from course_judges.ch07_block.sections import BLOCK, PLACE, STREAM, TWO
from course_judges.judging import Evidence, Part, Task, any_of, matches, mistake
from course_judges.properties import right_when_called_again
from course_judges.quoting import farthest, farthest_index, ratio
from course_judges.wording import index, number, results_by_name, unwrapped
from course_tasks.ch07_block.pre_norm_block import PROBE, Gathering, Listening
from course_tasks.ch07_block.shared import Branch
from course_tasks.verdict import Finding

NAMES = ("attention_norm", "cross_norm", "feed_forward_norm")


# Which norms the branches read through, where not all three are used.
_SHARED_ORDERS = tuple(
    (a, b, c) for a, b, c in itertools.product(range(3), repeat=3) if len({a, b, c}) < 3
)
_as_if_shared = any_of(
    PROBE, ("weighted",), *(decoder_blocks.norms_in_order(order) for order in _SHARED_ORDERS)
)


def _shares_a_norm(evidence: Evidence) -> bool:
    if not evidence.same("plain"):
        return False
    return int(evidence.yours("norms.distinct")) < 3 or (
        _leaves_a_norm_out(evidence) and _as_if_shared(evidence)
    )


def _leaves_a_norm_out(evidence: Evidence) -> bool:
    return evidence.same("plain") and not evidence.yours("norms.felt").all()


def _norms_used(evidence: Evidence) -> str:
    distinct = int(evidence.yours("norms.distinct"))
    if distinct < 3:
        return f"For its three branches your block has {distinct} norm{'s' * (distinct != 1)}. "
    felt = evidence.yours("norms.felt")
    idle = results_by_name(n for n, f in zip(NAMES, felt, strict=True) if not f)
    return f"Setting the gain of {idle} to 0 changes nothing in your output. "


def _lower(evidence: Evidence, value: str) -> str:
    sentence = farthest(evidence, value)
    return sentence[:1].lower() + sentence[1:]


def _off(evidence: Evidence) -> str:
    return farthest(evidence, "plain")


def _mean_and_spread(evidence: Evidence) -> str:
    mine, right = evidence.yours("plain")[0, 0], evidence.right("plain")[0, 0]
    means, spreads = (
        [number(round(float(value), 2)) for value in both]
        for both in ((mine.mean(), right.mean()), (mine.std(), right.std()))
    )
    return unwrapped(f"""Position 0 of your output has mean {means[0]} and spread {spreads[0]};
    expected {means[1]} and {spreads[1]}.""")


def _stream_is_gone(evidence: Evidence) -> str:
    x = evidence.inputs["x"].ravel()
    mine, right = (
        float(np.corrcoef(x, v.ravel())[0, 1])
        for v in (evidence.yours("plain"), evidence.right("plain"))
    )
    return unwrapped(f"""The correlation of your output with x is {number(mine, 2)}; with the
    stream carried through it is {number(right, 2)}. {_off(evidence)}""")


def _some_positions(evidence: Evidence) -> Finding | None:
    """Right at some positions and wrong at others: something is off between positions."""
    mine, right = evidence.yours("plain"), evidence.right("plain")
    wrong = np.abs(mine - right).max(axis=(0, 2)) > 1e-3
    if wrong.all() or not wrong.any():
        return None
    places = ", ".join(str(int(t)) for t in np.flatnonzero(wrong))
    return Finding(
        "some-positions-differ",
        "Your block is right at some positions and wrong at others.",
        f"Wrong at positions {places}. {_off(evidence)}",
        BLOCK,
    )


def _nearly(evidence: Evidence) -> Finding | None:
    """So near to right that the norms must be there, and not what they divide by."""
    mine, right = evidence.yours("plain"), evidence.right("plain")
    if evidence.same("plain") or mine.shape != right.shape:
        return None
    if np.abs(mine - right).max() > _NEAR * right.std():
        return None
    return Finding(
        "nearly-right",
        "Your numbers are nearly right.",
        f"{_off(evidence)} Does a norm divide by something a little larger or smaller: another "
        "`eps` than that of `nn.LayerNorm`, or the unbiased variance?",
        BLOCK,
    )


def _other_memory(evidence: Evidence) -> Finding | None:
    """Right with one memory and wrong with one of another length."""
    if not evidence.same("plain") or evidence.same("other.whole"):
        return None
    one, other = evidence.number("S"), evidence.inputs["other_memory"].shape[1]
    return Finding(
        "memory-of-another-length",
        "Your block is right with one memory, and wrong with one of another length.",
        unwrapped(f"""With S = {one} it is right, with S = {other} it is not.
        {farthest(evidence, "other.whole")}"""),
        BLOCK,
    )


# By so small a share of the spread of the right numbers an answer is off that is nearly right.
_NEAR = 0.05

_ONLY_PLAIN = ("plain",)

# Which norm each of the three branches reads through, where not each reads through its own.
_OTHER_ORDERS = ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1))


_one_norm_for_two = mistake(
    "One norm serves more than one branch; each branch needs its own.",
    lambda e: f"{_norms_used(e)}With norms that have learned, {_lower(e, 'weighted')}",
    TWO,
    recognized=_shares_a_norm,
)(decoder_blocks.going(decoder_blocks.one_norm))

_norm_left_out = mistake(
    "A norm of your block has no effect: no branch reads through it.",
    lambda e: unwrapped(f"""{_norms_used(e)}Does a branch read through `F.layer_norm`, or through a
    norm that is made anew in each call? Neither can learn. With norms that have learned,
    {_lower(e, "weighted")}"""),
    TWO,
    recognized=_leaves_a_norm_out,
)(
    decoder_blocks.adding(
        lambda x, norm, branch: x + branch(nn.functional.layer_norm(x, x.shape[-1:]))  # noqa: ARG005
    )
)

_norms_exchanged = mistake(
    "Your norms changed places: a branch reads through the norm of another one.",
    lambda e: unwrapped(f"""As long as they are fresh all three do the same. With norms that have
    learned, {_lower(e, "weighted")}"""),
    TWO,
    cases=("weighted",),
    also=tuple(map(decoder_blocks.norms_in_order, _OTHER_ORDERS[1:])),
)(decoder_blocks.norms_in_order(_OTHER_ORDERS[0]))

_post_for_pre = mistake(
    "You normed after the sum, which is post-norm; asked for is the norm before the branch.",
    lambda e: f"The norm stands on the stream itself. {_mean_and_spread(e)}",
    PLACE,
)(decoder_blocks.adding(lambda x, norm, branch: norm(x + branch(x))))

_branch_normed_after = mistake(
    "You normed what the branch wrote; norm what it reads.",
    lambda e: unwrapped(f"""Every branch then writes as loudly as every other, and reads the stream
    as loud as it is. {_mean_and_spread(e)}"""),
    PLACE,
)(decoder_blocks.adding(lambda x, norm, branch: x + norm(branch(x))))

_stream_normed = mistake(
    "The normed `x` replaced the stream: `x = norm(x)`, and then `x + branch(x)`.",
    lambda e: f"Only the branch should read the normed copy. {_mean_and_spread(e)}",
    PLACE,
)(decoder_blocks.adding(decoder_blocks.norm_replaces))

_one_stream_normed = mistake(
    "In one of the three branches the normed `x` replaced the stream.",
    lambda e: unwrapped(f"""Look for the line `x = norm(x)`: what is added to must be the stream as
    it was. {_mean_and_spread(e)}"""),
    PLACE,
    also=tuple(decoder_blocks.one_norm_replaces(name) for name in ("attention", "cross_attention")),
)(decoder_blocks.one_norm_replaces("feed_forward"))

_no_residual = mistake(
    "Each branch replaces the stream; it should add to it.", _stream_is_gone, STREAM
)(decoder_blocks.adding(lambda x, norm, branch: branch(norm(x))))

_one_skip_missing = mistake(
    "One of the three branches replaces the stream; each should add to it.",
    lambda e: f"Look for the line without `x +`. {_stream_is_gone(e)}",
    STREAM,
    also=tuple(decoder_blocks.without_a_skip(name) for name in ("attention", "feed_forward")),
)(decoder_blocks.without_a_skip("cross_attention"))

_residual_twice = mistake(
    "The stream was added twice in each branch.",
    lambda e: f"Your output is {ratio(e, 'plain'):.1f} times as large as it should be. {_off(e)}",
    STREAM,
)(decoder_blocks.adding(lambda x, norm, branch: x + x + branch(norm(x))))

_no_norms = mistake("No branch norms what it reads.", _off, PLACE)(
    decoder_blocks.adding(lambda x, norm, branch: x + branch(x))  # noqa: ARG005
)

_thinking_unnormed = mistake(
    "The feed-forward network reads the stream as it is; norm it first.", _off
)(decoder_blocks.unnormed("feed_forward"))

_listening_unnormed = mistake("Cross-attention reads the stream as it is; norm it first.", _off)(
    decoder_blocks.unnormed("cross_attention")
)

_gathering_unnormed = mistake("Self-attention reads the stream as it is; norm it first.", _off)(
    decoder_blocks.unnormed("attention")
)

_one_norm_only = mistake(
    "Two of the three branches read the stream as it is; each is to read it normed.",
    _off,
    also=(
        decoder_blocks.unnormed("attention", "feed_forward"),
        decoder_blocks.unnormed("cross_attention", "feed_forward"),
    ),
)(decoder_blocks.unnormed("attention", "cross_attention"))

_normed_at_the_end = mistake(
    "Your block norms what it returns; the stream leaves a pre-norm block as it is.",
    lambda e: (
        f"A stack of blocks has one norm at its end, and no block does. {_mean_and_spread(e)}"
    ),
    PLACE,
)(decoder_blocks.going(decoder_blocks.normed_at_the_end))

_branch_twice = mistake(
    "One of the three branches has two turns.",
    lambda e: f"Each adds to the stream once. {_off(e)}",
    also=tuple(decoder_blocks.twice(name) for name in ("cross_attention", "feed_forward")),
)(decoder_blocks.twice("attention"))

_back_to_the_start = mistake(
    "A branch was added to the `x` that entered, so what the branches before it wrote is lost.",
    lambda e: f"Each is added to the stream as it then is. {_off(e)}",
    STREAM,
    also=(
        decoder_blocks.back_to_the_start("cross_attention"),
        decoder_blocks.back_to_the_start("cross_attention", "feed_forward"),
    ),
)(decoder_blocks.back_to_the_start("feed_forward"))

_memory_added = mistake(
    "You put the mean of the memory on the stream besides; only a branch reads it.", _off, STREAM
)(decoder_blocks.going(decoder_blocks.memory_added))

_memory_normed_instead = mistake(
    "You normed the memory and not the stream: cross-attention reads the stream as it is.",
    lambda e: f"`cross_norm` is for what this block's own stream holds. {_off(e)}",
)(decoder_blocks.middle(lambda m, x, memory: (x, m.cross_norm(memory))))

_memory_normed = mistake(
    "You normed the memory as well; it comes normed from where it was made.",
    lambda e: f"{_off(e)} Norm what is read from the stream of this block, no more.",
)(decoder_blocks.middle(lambda m, x, memory: (m.cross_norm(x), m.cross_norm(memory))))

_self_cross = mistake(
    "Cross-attention was given `x` twice, so it listened to itself.",
    lambda e: unwrapped(f"""The memory, S = {e.number("S")} positions of it, has no effect on your
    output. {_off(e)}"""),
    also=(decoder_blocks.middle(lambda m, x, memory: (m.cross_norm(x), x)),),  # noqa: ARG005
)(decoder_blocks.middle(lambda m, x, memory: (m.cross_norm(x), m.cross_norm(x))))  # noqa: ARG005

_memory_unheard = mistake(
    "Cross-attention is missing: this is the block of the chapter, with two branches.",
    lambda e: f"The memory has no effect on your output. {_off(e)}",
)(decoder_blocks.going(decoder_blocks.memory_unheard))

_thinks_before_listening = mistake(
    "The feed-forward network came before cross-attention; it comes last.", _off
)(decoder_blocks.going(decoder_blocks.thinks_first))

_listens_before_gathering = mistake(
    "Cross-attention came before self-attention; it comes second.", _off
)(decoder_blocks.going(decoder_blocks.listens_first))

_another_order = mistake(
    "The branches come in another order: first attention, then cross-attention, then feed-forward.",
    _off,
    also=(decoder_blocks.in_order("fca"), decoder_blocks.in_order("cfa")),
)(decoder_blocks.in_order("fac"))

_thinks_too_early = mistake(
    "The feed-forward network reads the stream without what cross-attention adds to it.",
    lambda e: f"Each branch reads the stream as it then is. {_off(e)}",
    STREAM,
)(decoder_blocks.going(decoder_blocks.thinks_too_early))

_side_by_side = mistake(
    "All three branches read the `x` that entered; each should read the stream as it then is.",
    lambda e: f"No branch hears of the ones before it. {_off(e)}",
    STREAM,
)(decoder_blocks.going(decoder_blocks.side_by_side))

_attentions_side_by_side = mistake(
    "Attention and cross-attention read the same `x`; the second should read the stream with what "
    "the first added.",
    lambda e: f"What a position gathers decides what it asks the memory for. {_off(e)}",
    STREAM,
)(decoder_blocks.going(decoder_blocks.attentions_side_by_side))


_memory_cut = mistake(
    "Your memory is cut to the length of `x`; it has a length of its own.",
    lambda e: unwrapped(f"""With {e.inputs["other_memory"].shape[1]} places in the memory and
    {e.number("T")} in `x` the last ones are never seen. {farthest(e, "other.whole")}"""),
    cases=("plain", "other"),
)(decoder_blocks.going(decoder_blocks.memory_cut))


_memory_cut_off = mistake(
    "The values are right, and no gradient flows back to the memory.",
    "It is to reach its branch unchanged. Behind `detach()` or `no_grad` it is numbers without a "
    "past, so the model that made it learns nothing from this block.",
    cases=("plain", "other"),
)(decoder_blocks.middle(lambda m, x, memory: (m.cross_norm(x), memory.detach())))

# What may be done with one branch, in words, and as a step from x, a norm and what the branch
# writes of what it reads.
_Step = Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor]


def _normed(x: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, x.shape[-1:])


_STEPS: dict[str, _Step] = {
    "": lambda x, branch: x + branch(_normed(x)),
    "reads the stream as it is, without a norm": lambda x, branch: x + branch(x),
    "replaces the stream": lambda x, branch: branch(_normed(x)),
    "is added to the normed stream": lambda x, branch: _normed(x) + branch(_normed(x)),
    "reads the stream as it is, and the sum is normed": lambda x, branch: _normed(x + branch(x)),
    "reads the normed stream, and the sum is normed": (
        lambda x, branch: _normed(x + branch(_normed(x)))
    ),
    "reads the stream as it is, and what it wrote is normed": (
        lambda x, branch: x + _normed(branch(x))
    ),
    "is left out": lambda x, branch: x,  # noqa: ARG005
    "is added divided by √3": lambda x, branch: x + branch(_normed(x)) / 3**0.5,
    "is added divided by 3": lambda x, branch: x + branch(_normed(x)) / 3,
    "is subtracted": lambda x, branch: x - branch(_normed(x)),
}


def _branch_by_branch(evidence: Evidence) -> Finding | None:
    """Which of the three branches is put on the stream in another way, and in which."""
    mine = evidence.yours("plain")
    if evidence.same("plain") or mine.shape != evidence.right("plain").shape:
        return None
    given = {name: torch.from_numpy(evidence.inputs[name]) for name in _GIVEN}
    cross = Listening(given["listen"])
    branches: dict[str, Callable[[Tensor], Tensor]] = {
        "attention": Gathering(given["gather"]),
        "cross_attention": lambda x: cross(x, given["memory"]),
        "feed_forward": Branch(given["think"]),
    }
    with torch.no_grad():
        for steps in itertools.product(_STEPS, repeat=3):
            x = given["x"]
            for step, branch in zip(steps, branches.values(), strict=True):
                x = _STEPS[step](x, branch)
            if np.allclose(x.numpy(), mine, rtol=1e-3, atol=1e-4):
                break
        else:
            return None
    told = "; ".join(f"`{n}` {how}" for n, how in zip(branches, steps, strict=True) if how)
    many = sum(map(bool, steps))
    return Finding(
        "branches-put-on-otherwise",
        f"{('One', 'Two', 'All')[many - 1]} of the three branches "
        f"{'is' if many == 1 else 'are'} put on the stream in another way than asked for.",
        f"By your numbers, {told}. Each is to read the normed stream, and to be added to the "
        f"stream that was not normed: `x = x + branch(norm(x))`. {_off(evidence)}",
        PLACE,
    )


_GIVEN = ("x", "memory", "gather", "listen", "think")


def _worked_out(evidence: Evidence) -> Finding | None:
    """What enters at one place, and what each of the three branches adds to it."""
    mine, right = evidence.yours("plain"), evidence.right("plain")
    if evidence.same("plain") or mine.shape != right.shape or more_is_known(evidence, "plain"):
        return None
    place = farthest_index(mine, right)
    given = {name: torch.from_numpy(evidence.inputs[name]) for name in _GIVEN}
    x = given["x"]
    added: list[float] = []
    with torch.no_grad():
        for branch in (Gathering(given["gather"]), Listening(given["listen"]), None):
            read = _normed(x)
            if branch is None:
                wrote = Branch(given["think"])(read)
            else:
                wrote = branch(read, given["memory"]) if added else branch(read)
            added.append(float(wrote[place]))
            x = x + wrote
    return Finding(
        "another-block",
        "What leaves your block is not what entered plus what the three branches add.",
        f"At index {index(place)} {number(float(given['x'][place]))} enters; attention adds "
        f"{number(added[0])}, cross-attention {number(added[1])} and the feed-forward network "
        f"{number(added[2])}, each reading the normed stream as it then is. So "
        f"{number(float(right[place]))} leaves. Yours is {number(float(mine[place]))}.",
        BLOCK,
    )


TASK = Task(
    "A block that listens to two",
    decoder_blocks.DecoderBlock,
    BLOCK,
    (
        Part(
            "Three branches, each normed first, each added, in this order.",
            2,
            matches("plain", "other"),
        ),
        Part("Each branch has a norm of its own.", 2, matches("weighted")),
    ),
    properties=(
        right_when_called_again(("plain", "other.whole"), ("other.first",), BLOCK),
        _nearly,
        _branch_by_branch,
        _some_positions,
        _other_memory,
    ),
    examples=(_worked_out,),
    uncompared=("norms",),
    cases=_ONLY_PLAIN,
)
