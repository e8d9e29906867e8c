"""Judges 07/pre-norm-block: a pre-norm block with three branches and three norms."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_judges.ch07_block.sections import BLOCK, PLACE, STREAM, TWO
from course_judges.judging import Evidence, Part, Step, Task, any_of, matches, mistake
from course_judges.properties import right_when_called_again
from course_judges.quoting import farthest, farthest_index
from course_judges.wording import index, listed, number, results_by_name, unwrapped
from course_tasks.ch07_block.pre_norm_block import PROBE, Gathering, Listening
from course_tasks.ch07_block.shared import Branch
from course_tasks.verdict import Finding, Tells

NAMES = ("attention_norm", "cross_norm", "feed_forward_norm")


class DecoderBlock(nn.Module):
    """Attention, cross-attention and a feed-forward network, each with a norm in front."""

    def __init__(
        self,
        n_embd: int,
        attention: nn.Module,
        cross_attention: nn.Module,
        feed_forward: nn.Module,
    ):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """(B, T, C) and (B, S, C) → (B, T, C)."""
        asked = x + self.attention(self.attention_norm(x))  # the stream after attention
        heard = asked + self.cross_attention(
            self.cross_norm(asked), memory
        )  # the stream after cross-attention
        return heard + self.feed_forward(self.feed_forward_norm(heard))  # your output


class _NormsWithoutShift(DecoderBlock):
    """A block whose norms have a gain only."""

    def __init__(self, n_embd: int, *branches: nn.Module):
        super().__init__(n_embd, *branches)
        for name in NAMES:
            setattr(self, name, nn.LayerNorm(n_embd, bias=False))


def _going(forward: Callable[[Any, Tensor, Tensor], Tensor]) -> type[DecoderBlock]:
    """The same parts with another forward pass."""

    class Answer(DecoderBlock):
        def forward(self, x: Tensor, memory: Tensor) -> Tensor:
            return forward(self, x, memory)

    return Answer


def _adding(step: Callable[[Tensor, nn.Module, Callable[[Tensor], Tensor]], Tensor]) -> Any:
    """Three branches, each added to the stream in another way."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        x = step(x, m.attention_norm, m.attention)
        x = step(x, m.cross_norm, lambda h: m.cross_attention(h, memory))
        return step(x, m.feed_forward_norm, m.feed_forward)

    return _going(forward)


def _norm_replacing(x: Tensor, norm: nn.Module, branch: Callable[[Tensor], Tensor]) -> Tensor:
    """The normalized stream replaces the stream."""
    x = norm(x)
    return x + branch(x)


def _middle(
    read: Callable[[Any, Tensor, Tensor], tuple[Tensor, Tensor]],
) -> type[DecoderBlock]:
    """Other inputs for cross-attention."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        x = x + m.attention(m.attention_norm(x))
        x = x + m.cross_attention(*read(m, x, memory))
        return x + m.feed_forward(m.feed_forward_norm(x))

    return _going(forward)


def _with_a_last_norm(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """A right block whose output is normalized."""
    return m.feed_forward_norm(DecoderBlock.forward(m, x, memory))


def _adding_memory(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """The mean of the memory is added to the stream, too."""
    x = x + m.attention(m.attention_norm(x))
    x = x + m.cross_attention(m.cross_norm(x), memory) + memory.mean(dim=1, keepdim=True)
    return x + m.feed_forward(m.feed_forward_norm(x))


def _one_norm(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """The first norm for all three branches."""
    x = x + m.attention(m.attention_norm(x))
    x = x + m.cross_attention(m.attention_norm(x), memory)
    return x + m.feed_forward(m.attention_norm(x))


def _cutting_memory(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """The memory is cut to the length of the stream."""
    return DecoderBlock.forward(m, x, memory[:, : x.shape[1]])


def _norms_in_order(order: tuple[int, int, int]) -> type[DecoderBlock]:
    """The three branches use the norms with these numbers."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        norms = [(m.attention_norm, m.cross_norm, m.feed_forward_norm)[n] for n in order]
        x = x + m.attention(norms[0](x))
        x = x + m.cross_attention(norms[1](x), memory)
        return x + m.feed_forward(norms[2](x))

    return _going(forward)


# Which norms are applied before the branches, if not all three are used.
_SHARED_ORDERS = tuple(
    (a, b, c) for a, b, c in itertools.product(range(3), repeat=3) if len({a, b, c}) < 3
)
_as_if_shared = any_of(PROBE, ("weighted",), *(_norms_in_order(order) for order in _SHARED_ORDERS))


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
)(_going(_one_norm))

_norm_left_out = mistake(
    "One of your block's norms has no effect.",
    lambda e: unwrapped(f"""{_norms_used(e)}Do you use `F.layer_norm` for a branch, or a new norm in
    each call? Neither of them can learn. With trained norms, {_lower(e, "weighted")}"""),
    TWO,
    recognized=_leaves_a_norm_out,
)(
    _adding(
        lambda x, norm, branch: x + branch(nn.functional.layer_norm(x, x.shape[-1:]))  # noqa: ARG005
    )
)

_norms_exchanged = mistake(
    "You mixed up your norms: a branch uses the norm that belongs to another branch.",
    lambda e: unwrapped(f"""Before training you wouldn't notice, because all three norms do the
    same. With trained norms, {_lower(e, "weighted")}"""),
    TWO,
    cases=("weighted",),
    also=tuple(map(_norms_in_order, _OTHER_ORDERS[1:])),
)(_norms_in_order(_OTHER_ORDERS[0]))

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
)(_NormsWithoutShift)

_post_for_pre = mistake(
    "You normalized after the addition (post-norm) instead of before the branch (pre-norm).",
    lambda e: f"Your norms change the stream itself. {_mean_and_spread(e)}",
    PLACE,
)(_adding(lambda x, norm, branch: norm(x + branch(x))))

_stream_normed = mistake(
    "You replaced the stream by the normalized `x`, as in `x = norm(x)` before `x + branch(x)`.",
    lambda e: f"Only the branch should read the normalized copy. {_mean_and_spread(e)}",
    PLACE,
)(_adding(_norm_replacing))

_no_residual = mistake(
    "Your branches replace the stream instead of adding to it.", _stream_is_gone, STREAM
)(_adding(lambda x, norm, branch: branch(norm(x))))

_normed_at_the_end = mistake(
    "You normalized the block's output, but a pre-norm block returns the stream itself.",
    lambda e: unwrapped(f"""A stack of blocks has one norm at its end, but no block normalizes its
    own output. {_mean_and_spread(e)}"""),
    PLACE,
)(_going(_with_a_last_norm))

_memory_added = mistake(
    "You also added the mean of the memory to the stream, but only cross-attention should read it.",
    _off,
    STREAM,
)(_going(_adding_memory))

_memory_normed_instead = mistake(
    "Before cross-attention you normalized the memory instead of the stream.",
    lambda e: f"`cross_norm` is meant for this block's own stream. {_off(e)}",
)(_middle(lambda m, x, memory: (x, m.cross_norm(memory))))

_memory_normed = mistake(
    "You normalized the memory as well, but it is already normalized where it is made.",
    lambda e: f"Only normalize what is read from the stream of this block. {_off(e)}",
)(_middle(lambda m, x, memory: (m.cross_norm(x), m.cross_norm(memory))))

_self_cross = mistake(
    "You gave cross-attention `x` instead of the memory.",
    lambda e: unwrapped(f"""The memory, with its S = {e.number("S")} positions, has no effect on
    your output. {_off(e)}"""),
    also=(_middle(lambda m, x, memory: (m.cross_norm(x), x)),),  # noqa: ARG005
)(_middle(lambda m, x, memory: (m.cross_norm(x), m.cross_norm(x))))  # noqa: ARG005

_memory_cut = mistake(
    "You cut the memory to the length of `x`, but it has its own length.",
    lambda e: unwrapped(f"""The memory has {e.inputs["other_memory"].shape[1]} positions and `x` has
    {e.number("T")}, so the last ones are never seen. {farthest(e, "other.whole")}"""),
    cases=("plain", "other"),
)(_going(_cutting_memory))

_memory_cut_off = mistake(
    "Your values are right, but no gradient flows back to the memory.",
    "Pass it to cross-attention unchanged. After `detach()` or `no_grad`, the model that made the "
    "memory can't learn from this block.",
    cases=("plain", "other"),
)(_middle(lambda m, x, memory: (m.cross_norm(x), memory.detach())))

# What an answer may do at one branch, in words and as a function of x and the branch.
_Step = Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor]


def _normed(x: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, x.shape[-1:])


_STEPS: dict[str, _Step] = {
    "": lambda x, branch: x + branch(_normed(x)),
    "reads the stream without a norm": lambda x, branch: x + branch(x),
    "replaces the stream": lambda x, branch: branch(_normed(x)),
    "is added to twice the stream": lambda x, branch: x + x + branch(_normed(x)),
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
    "adds nothing to the stream": lambda x, branch: x,  # noqa: ARG005
    "is divided by √3": lambda x, branch: x + branch(_normed(x)) / 3**0.5,
    "is divided by 3": lambda x, branch: x + branch(_normed(x)) / 3,
    "is subtracted": lambda x, branch: x - branch(_normed(x)),
}


# One way for some branches before two; never three ways, as that would take too long.
_WAYS = sorted(
    (steps for steps in itertools.product(_STEPS, repeat=3) if len(set(steps) - {""}) < 3),
    key=lambda steps: len(set(steps) - {""}),
)


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
        for steps in _WAYS:
            x = given["x"]
            for step, branch in zip(steps, branches.values(), strict=True):
                x = _STEPS[step](x, branch)
            if np.allclose(x.numpy(), mine, rtol=1e-3, atol=1e-4):
                break
        else:
            return None
    told = "; ".join(f"`{n}` {how}" for n, how in zip(branches, steps, strict=True) if how)
    lost = any(how.startswith(("replaces", "adds", "is added to twice")) for how in steps)
    return Finding(
        "branches-put-on-otherwise",
        f"{f'Each of your branches {steps[0]}' if len(set(steps)) == 1 else told}.",
        "Each branch should read the normalized stream and be added to the stream that wasn't "
        f"normalized, as in `x = x + branch(norm(x))`. {_off(evidence)}",
        STREAM if lost else PLACE,
        tells=Tells.CAUSE,
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
        tells=Tells.CAUSE,
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
                    whole = many == len(known)
                    told = f" Yours reads {words.format('the stream' if whole else summed)}."
    return Finding(
        "other-reads",
        f"`{name}` doesn't read the normalized stream.",
        "Each branch reads the norm of the stream as it is when its turn comes, here of "
        f"{' plus '.join(known).replace('x', '`x`', 1)}.{told} "
        f"{_off(evidence)}",
        STREAM,
        tells=Tells.CAUSE if told else Tells.PLACE,
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


TASK = Task(
    "A block that listens to two",
    DecoderBlock,
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
    uncompared=("norms", "reads", "weighted_reads"),
    cases=_ONLY_PLAIN,
    steps={
        "the stream after attention": Step(
            "Attention reads the normalized stream and adds to the stream itself.", STREAM
        ),
        "the stream after cross-attention": Step(
            "Cross-attention asks with the normalized stream, and the memory answers.", STREAM
        ),
        "your output": Step(
            "The feed-forward network comes last, and the stream is returned as it is.", STREAM
        ),
    },
)
