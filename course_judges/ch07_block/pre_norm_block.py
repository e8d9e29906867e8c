"""Judges 07/pre-norm-block: a pre-norm block with three branches and three norms."""

from __future__ import annotations

import itertools
import re
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
    lambda e: f"{_norms_used(e)}With trained norms, {_lower(e, 'weighted')}",
    TWO,
    recognized=_shares_a_norm,
)(decoder_blocks.going(decoder_blocks.one_norm))

_norm_left_out = mistake(
    "One of your block's norms has no effect.",
    lambda e: unwrapped(f"""{_norms_used(e)}Do you use `F.layer_norm` for a branch, or a new norm in
    each call? Neither of them can learn. With trained norms, {_lower(e, "weighted")}"""),
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
    same. With trained norms, {_lower(e, "weighted")}"""),
    TWO,
    cases=("weighted",),
    also=tuple(map(decoder_blocks.norms_in_order, _OTHER_ORDERS[1:])),
)(decoder_blocks.norms_in_order(_OTHER_ORDERS[0]))

_LACKING = re.compile(r"no parameter named '(\w+)\.(weight|bias)'")


def _lacking(evidence: Evidence) -> tuple[str, str]:
    """The first norm that lacks a parameter, and which one.

    Raises
    ------
    KeyError
        If none does.
    """
    found = _LACKING.search(evidence.answers.errors["weighted"].message)
    if found is None or found[1] not in NAMES:
        raise KeyError("no norm lacks a parameter")
    return found[1], found[2]


_norm_without_parameters = mistake(
    lambda e: f"Your block has no parameter `{'.'.join(_lacking(e))}`.",
    unwrapped("""An `nn.LayerNorm(n_embd)` has a gain, `weight`, and a shift, `bias`. Have you made
    it without them, taken another kind of norm, or given it another name?"""),
    TWO,
    recognized=lambda e: bool(_lacking(e)),
)(decoder_blocks.NormsWithoutShift)

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
    "has no effect": lambda x, branch: x,  # noqa: ARG005
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


_BRANCHES = ("attention", "cross_attention", "feed_forward")


def _reads(evidence: Evidence, case: str) -> list[Tensor]:
    """What each of the three branches read, if each was run once and in order.

    Raises
    ------
    ValueError
        If they were run otherwise.
    """
    called, read = (evidence.answers.array(f"{case}.{name}") for name in ("called", "read"))
    if called is None or read is None or called.tolist() != [0, 1, 2] or len(read) != len(called):
        raise ValueError("the branches were run otherwise")
    return list(torch.from_numpy(read))


def _outputs(evidence: Evidence, reads: list[Tensor]) -> list[Tensor]:
    """What each of the three branches returned."""
    given = {name: torch.from_numpy(evidence.inputs[name]) for name in _GIVEN}
    with torch.no_grad():
        return [
            Gathering(given["gather"])(reads[0]),
            Listening(given["listen"])(reads[1], given["memory"]),
            Branch(given["think"])(reads[2]),
        ]


def _memory_changed(evidence: Evidence) -> Finding | None:
    """What cross-attention is given as the memory isn't the memory."""
    mine, right = evidence.answers.array("reads.besides"), evidence.inputs["memory"]
    if evidence.same("plain", "other") or mine is None or np.array_equal(mine, right):
        return None
    if mine.shape != right.shape:
        told = f"It gets a tensor of shape {mine.shape}, but the memory has shape {right.shape}."
    else:
        place = farthest_index(mine, right)
        told = (
            f"At index {index(place)} it gets {number(float(mine[place]))}, but the memory has"
            f" {number(float(right[place]))} there."
        )
    return Finding(
        "memory-changed",
        "You don't give the memory to cross-attention as it is.",
        f"{told} {_off(evidence)}",
        BLOCK,
    )


def _other_calls(evidence: Evidence) -> Finding | None:
    """The branches are not run once each, in order."""
    called = evidence.answers.array("reads.called")
    if evidence.same("plain") or called is None or called.tolist() == [0, 1, 2]:
        return None
    ran = ", ".join(f"`{_BRANCHES[int(n)]}`" for n in called) or "none of them"
    return Finding(
        "other-calls",
        "You don't run each of the three branches once, in the order of the task.",
        f"You ran {ran}. {_off(evidence)}",
        BLOCK,
    )


def _other_lengths(evidence: Evidence) -> Finding | None:
    """A branch reads a text of another length than the stream's."""
    called, lengths = (evidence.answers.array(f"reads.{name}") for name in ("called", "lengths"))
    if evidence.same("plain") or called is None or lengths is None:
        return None
    T = evidence.number("T")
    off = np.flatnonzero(lengths != T)
    if not len(off):
        return None
    return Finding(
        "other-lengths",
        f"`{_BRANCHES[int(called[off[0]])]}` reads something else than the stream.",
        f"It gets {int(lengths[off[0]])} positions, but the stream has T = {T} and the memory S ="
        f" {evidence.number('S')}. Only `cross_attention` is given the memory, as its second"
        f" argument. {_off(evidence)}",
        BLOCK,
    )


def _reads_zeros(evidence: Evidence) -> Finding | None:
    """A branch of a fresh block reads nothing but zeros."""
    if evidence.same("plain"):
        return None
    reads = _reads(evidence, "reads")
    idle = next((n for n, read in zip(_BRANCHES, reads, strict=True) if not read.any()), None)
    if idle is None:
        return None
    return Finding(
        "reads-zeros",
        f"`{idle}` reads nothing but zeros.",
        f"A fresh `nn.LayerNorm` has a gain of 1 and a shift of 0. Do you set its gain to 0? "
        f"{_off(evidence)}",
        BLOCK,
    )


def _same(one: Tensor, other: Tensor) -> bool:
    return bool(torch.allclose(one, other, rtol=1e-3, atol=1e-3))


_OF_A_STREAM: dict[str, Callable[[Tensor], Tensor]] = {
    "{}, normalized": _normed,
    "{} without a norm": lambda s: s,
    "{}, normalized over the positions": lambda s: _normed(s.transpose(1, 2)).transpose(1, 2),
    "{}, divided by its root mean square but not centered": lambda s: (
        s / (s.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    ),
    "{} without its mean, but not divided": lambda s: s - s.mean(-1, keepdim=True),
    "{}, normalized over the whole tensor": lambda s: (s - s.mean()) / s.std(correction=0),
    "zeros": torch.zeros_like,
}


def _other_reads(evidence: Evidence) -> Finding | None:
    """The first branch that doesn't read the normalized stream, and what it reads."""
    if evidence.same("plain"):
        return None
    reads = _reads(evidence, "reads")
    known = {"x": torch.from_numpy(evidence.inputs["x"])}
    for name, read, output in zip(_BRANCHES, reads, _outputs(evidence, reads), strict=True):
        stream = torch.stack(list(known.values())).sum(dim=0)
        if not _same(read, _normed(stream)):
            break
        known[f"the output of `{name}`"] = output
    else:
        return None
    told = ""
    for many in range(len(known), 0, -1):
        for some in itertools.combinations(known, many):
            total = torch.stack([known[one] for one in some]).sum(dim=0)
            for words, of in _OF_A_STREAM.items():
                if not told and _same(read, of(total)):
                    summed = " plus ".join("`x`" if one == "x" else one for one in some)
                    told = (
                        f" It reads {words.format('the stream' if many == len(known) else summed)}."
                    )
    return Finding(
        "other-reads",
        f"`{name}` doesn't read the normalized stream.",
        f"It should read the norm of {' plus '.join(known).replace('x', '`x`', 1)}.{told} "
        f"{_off(evidence)}",
        PLACE,
    )


def _other_sum(evidence: Evidence) -> Finding | None:
    """All branches read what they should, but another sum is returned."""
    mine, right = evidence.yours("plain"), evidence.right("plain")
    if evidence.same("plain") or mine.shape != right.shape:
        return None
    reads = _reads(evidence, "reads")
    known = [torch.from_numpy(evidence.inputs["x"]), *_outputs(evidence, reads)]
    a = torch.stack([one.flatten() for one in known], dim=1).double().numpy()
    factors = np.linalg.lstsq(a, mine.ravel().astype(float), rcond=None)[0]
    if not np.allclose(a @ factors, mine.ravel(), rtol=1e-3, atol=1e-3):
        return _last_changed(evidence, known)
    if np.allclose(factors, 1, atol=1e-3):
        return None
    told = [
        f"{'`x`' if not n else f'the output of `{_BRANCHES[n - 1]}`'} by"
        f" {number(round(float(factor), 3) + 0.0)}"
        for n, factor in enumerate(factors)
        if abs(factor - 1) > 1e-3
    ]
    return Finding(
        "returns-another-sum",
        "You don't return the sum of the input and what the three branches return.",
        f"You multiply {' and '.join(told)} instead of 1. {_off(evidence)}",
        STREAM,
    )


_CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    "the ReLU": torch.relu,
    "the tanh": torch.tanh,
    "the absolute value": torch.abs,
    "the GELU": nn.functional.gelu,
    "the softmax": lambda w: w.softmax(dim=-1),
    "the norm": _normed,
}


def _last_changed(evidence: Evidence, known: list[Tensor]) -> Finding | None:
    """What `feed_forward` returns is changed before it is added."""
    *others, last = known
    added = torch.from_numpy(evidence.yours("plain")) - torch.stack(others).sum(dim=0)
    for words, change in _CHANGES.items():
        if _same(added, change(last)):
            return Finding(
                "last-output-changed",
                f"You add {words} of what `feed_forward` returns, not what it returns itself.",
                f"A branch is added as it is. {_off(evidence)}",
                STREAM,
            )
    return None


def _other_trained_norm(evidence: Evidence) -> Finding | None:
    """Right in a fresh block: the first branch that reads something else with trained norms."""
    if not evidence.same("plain") or evidence.same("weighted"):
        return None
    reads = _reads(evidence, "weighted_reads")
    stream = torch.from_numpy(evidence.inputs["x"])

    def norm(which: str, x: Tensor) -> Tensor:
        gain, shift = (
            torch.from_numpy(evidence.inputs[f"{which}.{kind}"]) for kind in ("weight", "bias")
        )
        return _normed(x) * gain + shift

    for name, own, read, output in zip(  # noqa: B007
        _BRANCHES, NAMES, reads, _outputs(evidence, reads), strict=True
    ):
        if not _same(read, norm(own, stream)):
            break
        stream = stream + output
    else:
        return None
    told = "something else"
    if _same(read, _normed(stream)):
        told = "the stream normalized without any gain or shift"
    for one in NAMES:
        if _same(read, norm(one, stream)):
            told = f"what `{one}` makes of the stream"
        for other in NAMES:
            if _same(read, norm(other, norm(one, stream))):
                told = f"what `{other}` makes of what `{one}` makes of the stream"
    return Finding(
        "other-trained-norm",
        f"With trained norms, `{name}` doesn't read what `{own}` makes of the stream.",
        f"It reads {told}. Before training, all three norms do the same, and a second one changes"
        f" nothing. {farthest(evidence, 'weighted')}",
        TWO,
    )


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
            "Three branches read the normalized stream, and are added.",
            2,
            matches("plain", "other"),
        ),
        Part("Each branch has its own norm.", 2, matches("weighted")),
    ),
    properties=(
        right_when_called_again(("plain", "other.whole"), ("other.first",), BLOCK),
        _nearly,
        _memory_changed,
        _other_calls,
        _other_lengths,
        _reads_zeros,
        _branch_by_branch,
        _other_reads,
        _other_sum,
        _other_trained_norm,
        _some_positions,
        _other_memory,
    ),
    examples=(_worked_out,),
    uncompared=("norms", "reads", "weighted_reads"),
    cases=_ONLY_PLAIN,
)
