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
from course_judges.wording import index, listed, number, results_by_name, unwrapped
from course_tasks.ch07_block.pre_norm_block import PROBE, Gathering, Listening
from course_tasks.ch07_block.shared import Branch
from course_tasks.verdict import Finding

NAMES = ("attention_norm", "cross_norm", "feed_forward_norm")


# Which norms are applied before the branches, if not all three are used.
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
        return f"Your block has {distinct} norm{'s' * (distinct != 1)} for its three branches. "
    felt = evidence.yours("norms.felt")
    idle = results_by_name(n for n, f in zip(NAMES, felt, strict=True) if not f)
    return f"Setting the gain of {idle} to 0 doesn't change your output. "


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
    return unwrapped(f"""Position 0 of your output has mean {means[0]} and standard deviation
    {spreads[0]} instead of {means[1]} and {spreads[1]}.""")


def _stream_is_gone(evidence: Evidence) -> str:
    x = evidence.inputs["x"].ravel()
    mine, right = (
        float(np.corrcoef(x, v.ravel())[0, 1])
        for v in (evidence.yours("plain"), evidence.right("plain"))
    )
    return unwrapped(f"""Your output's correlation with `x` is {number(mine, 2)}, but with all skip
    connections it would be {number(right, 2)}. {_off(evidence)}""")


def _some_positions(evidence: Evidence) -> Finding | None:
    """Right at some positions and wrong at others."""
    mine, right = evidence.yours("plain"), evidence.right("plain")
    wrong = np.abs(mine - right).max(axis=(0, 2)) > 1e-3
    if wrong.all() or not wrong.any():
        return None
    places = np.flatnonzero(wrong)
    return Finding(
        "some-positions-differ",
        "Your block is right at some positions, but wrong at others.",
        f"It is wrong at position{'s' * (len(places) > 1)} {listed(places)}. {_off(evidence)}",
        BLOCK,
    )


def _nearly(evidence: Evidence) -> Finding | None:
    """So nearly right that all norms must be there, but one divides by something else."""
    mine, right = evidence.yours("plain"), evidence.right("plain")
    if evidence.same("plain") or mine.shape != right.shape:
        return None
    if np.abs(mine - right).max() > _NEAR * right.std():
        return None
    return Finding(
        "nearly-right",
        "Your numbers are nearly right.",
        f"{_off(evidence)} Does one of your norms divide by something slightly different, with "
        "another `eps` than `nn.LayerNorm` or with the unbiased variance?",
        BLOCK,
    )


def _other_memory(evidence: Evidence) -> Finding | None:
    """Right with one memory and wrong with one of another length."""
    if not evidence.same("plain") or evidence.same("other.whole"):
        return None
    one, other = evidence.number("S"), evidence.inputs["other_memory"].shape[1]
    return Finding(
        "memory-of-another-length",
        "Your block is right with one memory, but wrong with a memory of another length.",
        unwrapped(f"""It is right with S = {one} and wrong with S = {other}.
        {farthest(evidence, "other.whole")}"""),
        BLOCK,
    )


# A nearly right answer is off by at most this share of the right numbers' standard deviation.
_NEAR = 0.05

_ONLY_PLAIN = ("plain",)

# Which norm is applied before each of the three branches, if not each branch has its own.
_OTHER_ORDERS = ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1))


_one_norm_for_two = mistake(
    "You use one norm for more than one branch, but each branch needs its own.",
    lambda e: f"{_norms_used(e)}With trained norms, your output is {_lower(e, 'weighted')}",
    TWO,
    recognized=_shares_a_norm,
)(decoder_blocks.going(decoder_blocks.one_norm))

_norm_left_out = mistake(
    "One of your block's norms has no effect.",
    lambda e: unwrapped(f"""{_norms_used(e)}Do you use `F.layer_norm` for a branch, or a new norm in
    each call? Neither of them can learn. With trained norms, your output is
    {_lower(e, "weighted")}"""),
    TWO,
    recognized=_leaves_a_norm_out,
)(
    decoder_blocks.adding(
        lambda x, norm, branch: x + branch(nn.functional.layer_norm(x, x.shape[-1:]))  # noqa: ARG005
    )
)

_norms_exchanged = mistake(
    "You mixed up your norms: a branch uses the norm that belongs to another branch.",
    lambda e: unwrapped(f"""Before training you wouldn't notice, because all three norms do the
    same. With trained norms, your output is {_lower(e, "weighted")}"""),
    TWO,
    cases=("weighted",),
    also=tuple(map(decoder_blocks.norms_in_order, _OTHER_ORDERS[1:])),
)(decoder_blocks.norms_in_order(_OTHER_ORDERS[0]))

_post_for_pre = mistake(
    "You normalized after the addition (post-norm) instead of before the branch (pre-norm).",
    lambda e: f"Your norms change the stream itself. {_mean_and_spread(e)}",
    PLACE,
)(decoder_blocks.adding(lambda x, norm, branch: norm(x + branch(x))))

_branch_normed_after = mistake(
    "You normalized the output of each branch instead of its input.",
    lambda e: unwrapped(f"""So the branches read the raw stream, however large it has become.
    {_mean_and_spread(e)}"""),
    PLACE,
)(decoder_blocks.adding(lambda x, norm, branch: x + norm(branch(x))))

_stream_normed = mistake(
    "You replaced the stream by the normalized `x`, as in `x = norm(x)` before `x + branch(x)`.",
    lambda e: f"Only the branch should read the normalized copy. {_mean_and_spread(e)}",
    PLACE,
)(decoder_blocks.adding(decoder_blocks.norm_replaces))

_one_stream_normed = mistake(
    "At one of the three branches, you replaced the stream by the normalized `x`.",
    lambda e: unwrapped(f"""Look for a line like `x = norm(x)`. The branch should be added to the
    stream that wasn't normalized. {_mean_and_spread(e)}"""),
    PLACE,
    also=tuple(decoder_blocks.one_norm_replaces(name) for name in ("attention", "cross_attention")),
)(decoder_blocks.one_norm_replaces("feed_forward"))

_no_residual = mistake(
    "Your branches replace the stream instead of adding to it.", _stream_is_gone, STREAM
)(decoder_blocks.adding(lambda x, norm, branch: branch(norm(x))))

_one_skip_missing = mistake(
    "One of the three branches replaces the stream instead of adding to it.",
    lambda e: f"Look for the line without `x +`. {_stream_is_gone(e)}",
    STREAM,
    also=tuple(decoder_blocks.without_a_skip(name) for name in ("attention", "feed_forward")),
)(decoder_blocks.without_a_skip("cross_attention"))

_residual_twice = mistake(
    "You added the stream twice at each branch.",
    lambda e: f"Your output is {ratio(e, 'plain'):.1f} times as large as it should be. {_off(e)}",
    STREAM,
)(decoder_blocks.adding(lambda x, norm, branch: x + x + branch(norm(x))))

_no_norms = mistake("You didn't normalize the input of any branch.", _off, PLACE)(
    decoder_blocks.adding(lambda x, norm, branch: x + branch(x))  # noqa: ARG005
)

_thinking_unnormed = mistake("You didn't normalize the input of the feed-forward network.", _off)(
    decoder_blocks.unnormed("feed_forward")
)

_listening_unnormed = mistake("You didn't normalize `x` before cross-attention.", _off)(
    decoder_blocks.unnormed("cross_attention")
)

_gathering_unnormed = mistake("You didn't normalize the input of self-attention.", _off)(
    decoder_blocks.unnormed("attention")
)

_one_norm_only = mistake(
    "You normalized the input of only one of the three branches.",
    _off,
    also=(
        decoder_blocks.unnormed("attention", "feed_forward"),
        decoder_blocks.unnormed("cross_attention", "feed_forward"),
    ),
)(decoder_blocks.unnormed("attention", "cross_attention"))

_normed_at_the_end = mistake(
    "You normalized the block's output, but a pre-norm block returns the stream itself.",
    lambda e: unwrapped(f"""A stack of blocks has one norm at its end, but no block normalizes its
    own output. {_mean_and_spread(e)}"""),
    PLACE,
)(decoder_blocks.going(decoder_blocks.normed_at_the_end))

_branch_twice = mistake(
    "You ran one of the three branches twice.",
    lambda e: f"Each should add to the stream once. {_off(e)}",
    also=tuple(decoder_blocks.twice(name) for name in ("cross_attention", "feed_forward")),
)(decoder_blocks.twice("attention"))

_back_to_the_start = mistake(
    "You added a branch to the original `x`, so the outputs of earlier branches are lost.",
    lambda e: f"Each should be added to the current stream. {_off(e)}",
    STREAM,
    also=(
        decoder_blocks.back_to_the_start("cross_attention"),
        decoder_blocks.back_to_the_start("cross_attention", "feed_forward"),
    ),
)(decoder_blocks.back_to_the_start("feed_forward"))

_memory_added = mistake(
    "You also added the mean of the memory to the stream, but only cross-attention should read it.",
    _off,
    STREAM,
)(decoder_blocks.going(decoder_blocks.memory_added))

_memory_normed_instead = mistake(
    "Before cross-attention you normalized the memory instead of the stream.",
    lambda e: f"`cross_norm` is meant for this block's own stream. {_off(e)}",
)(decoder_blocks.middle(lambda m, x, memory: (x, m.cross_norm(memory))))

_memory_normed = mistake(
    "You normalized the memory as well, but it is already normalized where it is made.",
    lambda e: f"Only normalize what is read from the stream of this block. {_off(e)}",
)(decoder_blocks.middle(lambda m, x, memory: (m.cross_norm(x), m.cross_norm(memory))))

_self_cross = mistake(
    "You gave cross-attention `x` instead of the memory.",
    lambda e: unwrapped(f"""The memory, with its S = {e.number("S")} positions, has no effect on
    your output. {_off(e)}"""),
    also=(decoder_blocks.middle(lambda m, x, memory: (m.cross_norm(x), x)),),  # noqa: ARG005
)(decoder_blocks.middle(lambda m, x, memory: (m.cross_norm(x), m.cross_norm(x))))  # noqa: ARG005

_memory_unheard = mistake(
    "You left out cross-attention and wrote the chapter's block with two branches.",
    lambda e: f"The memory has no effect on your output. {_off(e)}",
)(decoder_blocks.going(decoder_blocks.memory_unheard))

_thinks_before_listening = mistake(
    "You put the feed-forward network before cross-attention, but it should come last.", _off
)(decoder_blocks.going(decoder_blocks.thinks_first))

_listens_before_gathering = mistake(
    "You put cross-attention before self-attention, but it should come second.", _off
)(decoder_blocks.going(decoder_blocks.listens_first))

_another_order = mistake(
    "Your branches are in the wrong order: attention, cross-attention, feed-forward is right.",
    _off,
    also=(decoder_blocks.in_order("fca"), decoder_blocks.in_order("cfa")),
)(decoder_blocks.in_order("fac"))

_thinks_too_early = mistake(
    "Your feed-forward network reads the stream before cross-attention has added to it.",
    lambda e: f"Each branch should read the current stream. {_off(e)}",
    STREAM,
)(decoder_blocks.reading(feed_forward="xa"))

_side_by_side = mistake(
    "All three branches read the original `x`, but each should read the current stream.",
    lambda e: f"A branch should also see what the branches before it added. {_off(e)}",
    STREAM,
)(decoder_blocks.reading("x", "x"))

_attentions_side_by_side = mistake(
    "Your cross-attention reads the same `x` as self-attention, before the latter has added to it.",
    lambda e: (
        f"What a position gathers should influence what it looks for in the memory. {_off(e)}"
    ),
    STREAM,
)(decoder_blocks.reading("x"))

_thinks_of_what_was_heard = mistake(
    "Your feed-forward network reads what cross-attention returned, but it should read the stream.",
    lambda e: unwrapped(f"""First add the output of cross-attention to the stream, then normalize
    and read the whole stream. {_off(e)}"""),
    STREAM,
)(decoder_blocks.reading(feed_forward="c"))

_thinks_without_the_input = mistake(
    "Your feed-forward network reads the outputs of both attentions without the block's input.",
    lambda e: unwrapped(f"""The stream that it should read also contains the `x` that your block was
    given. {_off(e)}"""),
    STREAM,
)(decoder_blocks.reading(feed_forward="ac"))

_asks_with_what_was_gathered = mistake(
    "Your cross-attention reads what self-attention returned, but it should read the stream.",
    lambda e: unwrapped(f"""First add the output of self-attention to the stream, then normalize
    and read the whole stream. {_off(e)}"""),
    STREAM,
)(decoder_blocks.reading("a"))

_branch_reads_branch = mistake(
    "Your second and third branches read the output of the branch before them, not the stream.",
    lambda e: unwrapped(f"""Add each output to the stream before the next branch reads, so that
    nothing of the stream gets lost on the way. {_off(e)}"""),
    STREAM,
)(decoder_blocks.reading("a", "c"))


_memory_cut = mistake(
    "You cut the memory to the length of `x`, but it has its own length.",
    lambda e: unwrapped(f"""The memory has {e.inputs["other_memory"].shape[1]} positions and `x` has
    {e.number("T")}, so the last ones are never seen. {farthest(e, "other.whole")}"""),
    cases=("plain", "other"),
)(decoder_blocks.going(decoder_blocks.memory_cut))


_memory_cut_off = mistake(
    "Your values are right, but no gradient flows back to the memory.",
    "Pass it to cross-attention unchanged. After `detach()` or `no_grad`, the model that made the "
    "memory can't learn from this block.",
    cases=("plain", "other"),
)(decoder_blocks.middle(lambda m, x, memory: (m.cross_norm(x), memory.detach())))

# What an answer may do at one branch, in words and as a function of x and the branch.
_Step = Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor]


def _normed(x: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, x.shape[-1:])


_STEPS: dict[str, _Step] = {
    "": lambda x, branch: x + branch(_normed(x)),
    "reads the stream without a norm": lambda x, branch: x + branch(x),
    "replaces the stream": lambda x, branch: branch(_normed(x)),
    "is added to the normalized stream": lambda x, branch: _normed(x) + branch(_normed(x)),
    "reads the stream without a norm while the sum is normalized": (
        lambda x, branch: _normed(x + branch(x))
    ),
    "reads the normalized stream while the sum is normalized as well": (
        lambda x, branch: _normed(x + branch(_normed(x)))
    ),
    "reads the stream without a norm while its output is normalized": (
        lambda x, branch: x + _normed(branch(x))
    ),
    "is left out": lambda x, branch: x,  # noqa: ARG005
    "is divided by √3": lambda x, branch: x + branch(_normed(x)) / 3**0.5,
    "is divided by 3": lambda x, branch: x + branch(_normed(x)) / 3,
    "is subtracted": lambda x, branch: x - branch(_normed(x)),
}


def _branch_by_branch(evidence: Evidence) -> Finding | None:
    """Which of the three branches are added to the stream in another way, and how."""
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
    told = ", and ".join(f"`{n}` {how}" for n, how in zip(branches, steps, strict=True) if how)
    many = sum(map(bool, steps))
    return Finding(
        "branches-put-on-otherwise",
        f"You didn't add {('one', 'two', 'any')[many - 1]} of the three branches to the stream as "
        "the task asks.",
        f"From your numbers it looks as if {told}. Each branch should read the normalized stream "
        "and be added to the stream that wasn't normalized, as in `x = x + branch(norm(x))`. "
        f"{_off(evidence)}",
        PLACE,
    )


_GIVEN = ("x", "memory", "gather", "listen", "think")


def _worked_out(evidence: Evidence) -> Finding | None:
    """One number of the input, and what each of the three branches adds to it."""
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
        "Your output isn't the input plus what each branch returns if it reads the current stream.",
        f"At index {index(place)} the input is {number(float(given['x'][place]))}. Attention adds "
        f"{number(added[0])}, cross-attention {number(added[1])} and the feed-forward network "
        f"{number(added[2])}, each reading the current stream, normalized. This makes "
        f"{number(float(right[place]))}, but yours is {number(float(mine[place]))}.",
        BLOCK,
    )


TASK = Task(
    "A block that listens to two",
    decoder_blocks.DecoderBlock,
    BLOCK,
    (
        Part(
            "Each of the three branches reads the normalized stream and is added, in this order.",
            2,
            matches("plain", "other"),
        ),
        Part("Each branch has its own norm.", 2, matches("weighted")),
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
