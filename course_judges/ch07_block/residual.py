"""Judges 07/residual: a residual stream whose branches are scaled."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from course_judges.ch07_block.generally import more_is_known
from course_judges.ch07_block.sections import COUNT, STREAM
from course_judges.describing import WRITTEN_OVER
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import right_when_called_again
from course_judges.quoting import farthest, farthest_index, ratio
from course_judges.wording import first_upper, index, listed, number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Tells

Forward = Callable[[Sequence[nn.Module], Tensor], Tensor]


class ResidualStream(nn.Module):
    """x plus the output of each branch, divided by √N."""

    def __init__(self, branches: Sequence[nn.Module]):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        N = len(self.branches)
        for branch in self.branches:
            read = x  # what a branch reads (B, T, C)
            written = branch(read)  # what a branch returns (B, T, C)
            share = written / math.sqrt(N)  # what a branch adds (B, T, C)
            x = x + share  # the stream (B, T, C)
        return x  # your output (B, T, C)


class _Listed(nn.Module):
    def __init__(self, branches: Sequence[nn.Module]):
        super().__init__()
        self.branches = list(branches)

    def forward(self, x: Tensor) -> Tensor:
        for branch in self.branches:
            x = x + branch(x) / math.sqrt(len(self.branches))
        return x


class _DividesTheWeights(nn.Module):
    def __init__(self, branches: Sequence[nn.Module]):
        super().__init__()
        self.branches = nn.ModuleList(branches)
        with torch.no_grad():
            for one in self.parameters():
                one.div_(math.sqrt(len(branches)))

    def forward(self, x: Tensor) -> Tensor:
        for branch in self.branches:
            x = x + branch(x)
        return x


def _going(forward: Forward) -> type[nn.Module]:
    """The same branches with another forward pass."""

    class Answer(nn.Module):
        def __init__(self, branches: Sequence[nn.Module]):
            super().__init__()
            self.branches = nn.ModuleList(branches)

        def forward(self, x: Tensor) -> Tensor:
            return forward(list(self.branches), x)

    return Answer


def _step(step: Callable[[Tensor, Tensor, int], Tensor]) -> type[nn.Module]:
    """Another way to add one branch, given x, the branch's output and N."""

    def forward(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
        for branch in branches:
            x = step(x, branch(x), len(branches))
        return x

    return _going(forward)


def _side_by_side(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    written = torch.stack([branch(x) for branch in branches])
    return x + written.sum(dim=0) / math.sqrt(len(branches))


def _back_to_the_start_answer(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    start = x
    for branch in branches:
        x = start + branch(x) / math.sqrt(len(branches))
    return x


def _sum_scaled_at_the_end(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    start = x
    for branch in branches:
        x = x + branch(x)
    return start + (x - start) / math.sqrt(len(branches))


def _whole_scaled_at_the_end(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches:
        x = x + branch(x)
    return x / math.sqrt(len(branches))


def _in_a_row(by: Callable[[int], float]) -> type[nn.Module]:
    """The branches in a row, with a single addition at the end."""

    def forward(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
        return x + nn.Sequential(*branches)(x) / by(len(branches))

    return _going(forward)


def _beside(by: Callable[[int], float]) -> type[nn.Module]:
    """All branches read the input, and their sum is divided in another way."""

    def forward(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
        written = torch.stack([branch(x) for branch in branches])
        return x + written.sum(dim=0) / by(len(branches))

    return _going(forward)


def _read_normed(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches:
        x = x + branch(nn.functional.layer_norm(x, x.shape[-1:])) / math.sqrt(len(branches))
    return x


def _by_the_turn(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for turn, branch in enumerate(branches, start=1):
        x = x + branch(x) / math.sqrt(turn)
    return x


def _read_divided(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches:
        x = x + branch(x / math.sqrt(len(branches)))
    return x


def _read_detached(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches:
        x = x + branch(x.detach()) / math.sqrt(len(branches))
    return x


def _frozen(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches:
        fixed = {name: one.detach() for name, one in branch.named_parameters()}
        x = x + torch.func.functional_call(branch, fixed, (x,)) / math.sqrt(len(branches))
    return x


def _in_place(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches:
        x += branch(x) / math.sqrt(len(branches))
    return x


def _branch_detached(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches:
        x = x + branch(x).detach() / math.sqrt(len(branches))
    return x


def _stream_detached(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches:
        x = x.detach() + branch(x) / math.sqrt(len(branches))
    return x


def _cloned_once(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    return _in_place(branches, x.clone())


def _stops_going_backward(evidence: Evidence) -> bool:
    """True if a tensor that the backward pass needs was changed, and nothing else is wrong."""
    raised = evidence.answers.errors.get("gradient")
    return (
        raised is not None
        and WRITTEN_OVER in raised.message
        and evidence.same("stream", "again", "twice", "parameters")
    )


def _and_going_backward(evidence: Evidence) -> str:
    raised = evidence.answers.errors.get("gradient")
    if raised is None or WRITTEN_OVER not in raised.message:
        return ""
    return unwrapped("""The backward pass fails, too, because each branch needs its own input
    unchanged. A single clone of `x` at the start wouldn't help with that. """)


def _lengths(evidence: Evidence) -> str:
    return unwrapped(f"""With N = {evidence.number("N")} branches your output is
    {ratio(evidence, "stream.out"):.3g} times as large as it should be.""")


def _both(evidence: Evidence) -> str:
    return f"{_lengths(evidence)} {farthest(evidence, 'stream.out')}"


def _gradients(evidence: Evidence) -> str:
    return unwrapped(f"""The gradient at the input is {ratio(evidence, "gradient.x"):.3g} times as
    large as it should be. {farthest(evidence, "gradient.x")}""")


def _gradients_of_the_branches(evidence: Evidence) -> str:
    mine = evidence.yours("gradient.branches")
    none = int((mine == 0).all(axis=(1, 2)).sum())
    return f"In {none} of {len(mine)} branches, the parameters get no gradient."


_CASES = ("stream.out",)

_no_residual = mistake(
    "Your branches replace the stream instead of adding to it.",
    lambda e: f"No skip connection carries the input to the end. {_both(e)}",
)(Like("left-out-x-in-the-stream"))

_no_residual_no_scale = mistake(
    "Your branches run one after the other, without a skip connection and without the 1 / √N.",
    lambda e: f"Each branch replaces the stream instead of adding to it. {_both(e)}",
)(_step(lambda x, written, n: written))  # noqa: ARG005

_divided_by_the_turn = mistake(
    "You divided each branch by the root of its own number in the list instead of √N.",
    lambda e: f"The first branch is divided by 1, the second by √2, and so on. {_both(e)}",
)(_going(_by_the_turn))

_weights_changed = mistake(
    "You changed the parameters of the branches.",
    lambda e: unwrapped(f"""Of {e.number("N")} branches,
    {int((~e.yours("parameters.kept")).sum())} have other weights than you were given. Divide what
    a branch returns, not its weights. {_both(e)}"""),
    recognized=lambda e: not e.yours("parameters.kept").all(),
)(_DividesTheWeights)

_divided_before_the_branch = mistake(
    "You divided the input of each branch by √N instead of its output.",
    lambda e: f"What the branch returns is then added undivided. {_both(e)}",
)(_going(_read_divided))

_stream_scaled = mistake(
    "You divided the whole sum, but only the branch's output should be divided.",
    lambda e: f"So the stream shrinks at each of the {e.number('N')} branches. {_both(e)}",
    also=(
        _step(lambda x, written, n: (x + written) / math.sqrt(2)),  # noqa: ARG005
        _step(lambda x, written, n: (x + written) / 2),  # noqa: ARG005
    ),
)(_step(lambda x, written, n: (x + written) / math.sqrt(n)))

_stream_divided_instead = mistake(
    "You divided the stream instead of the branches' outputs.",
    lambda e: f"So the stream shrinks at each of the {e.number('N')} branches. {_both(e)}",
)(_step(lambda x, written, n: x / math.sqrt(n) + written))

_all_divided_at_the_end = mistake(
    "You divided the whole stream once at the end, including the input.",
    lambda e: unwrapped(f"""Only the branches' outputs should be divided, each of them before it is
    added. {_both(e)}"""),
)(_going(_whole_scaled_at_the_end))

_one_skip_for_all = mistake(
    "You ran the branches one after the other and added `x` once, at the end.",
    lambda e: unwrapped(f"""Each of the {e.number("N")} branches should read the stream and add to
    it. {_both(e)}"""),
    also=(_in_a_row(lambda n: 1),),  # noqa: ARG005
)(_in_a_row(math.sqrt))

_norm_before_the_branch = mistake(
    "You normalized the input of each branch, but this task has no norms.",
    lambda e: f"Each branch should read the stream itself. {_both(e)}",
)(_going(_read_normed))

_all_read_the_input = mistake(
    "All your branches read the original `x`, but each should read the current stream.",
    lambda e: f"A branch should also see what the branches before it added. {_both(e)}",
    also=(_beside(lambda n: 1), _beside(float)),  # noqa: ARG005
)(_going(_side_by_side))

_back_to_the_start = mistake(
    "You added each branch to the original `x` instead of the current stream.",
    lambda e: unwrapped(f"""Of {e.number("N")} branches, only the last one's output is in the
    result. {_both(e)}"""),
)(_going(_back_to_the_start_answer))

_scaled_at_the_end = mistake(
    "You divided the sum of all branches once at the end instead of each output before adding it.",
    lambda e: f"The later branches then read a stream that is too large. {_both(e)}",
)(_going(_sum_scaled_at_the_end))


def _order(evidence: Evidence) -> list[int]:
    """The branches that were run, by their numbers."""
    called = evidence.answers.array("reads.called")
    return [] if called is None else [int(n) for n in called]


def _shuffled(evidence: Evidence) -> bool:
    """True if every branch ran once, but not in the order of the list."""
    order = _order(evidence)
    return sorted(order) == list(range(evidence.number("N"))) != order


_another_order = mistake(
    "You ran the branches in another order than that of the list.",
    lambda e: unwrapped(f"""Counted from 0, you ran
    {listed(_order(e))}. Do you keep them in a set? It has no order.
    {farthest(e, "stream.out")}"""),
    recognized=_shuffled,
)(_going(lambda branches, x: ResidualStream([*branches[1:], branches[0]])(x)))

_changed_in_place = mistake(
    "Your result is right, but you changed the caller's `x`.",
    lambda e: unwrapped(f"""`x += …` writes into the tensor that you were given.
    {farthest(e, "stream.x")} {_and_going_backward(e)}Write `x = x + …`."""),
    cases=("stream",),
)(_going(_in_place))

_written_over = mistake(
    "Your values are right, but the backward pass fails because you change tensors in place.",
    lambda e: unwrapped(f"""`backward()` stops with {e.answers.errors["gradient"].kind}. It needs
    the input of each of the {e.number("N")} branches, but `x += …` overwrites it, even if `x` is a
    clone. `x = x + …` makes a new tensor."""),
    recognized=_stops_going_backward,
)(_going(_cloned_once))

_list_not_ModuleList = mistake(
    "PyTorch doesn't find your branches, probably because they are in a plain Python list.",
    lambda e: unwrapped(f"""Your module has {int(e.yours("parameters.count"))} parameters, but the
    branches have {int(e.right("parameters.count"))}. They won't be trained, moved or saved with
    the module."""),
    COUNT,
    cases=("stream", "parameters"),
)(_Listed)

_branch_cut_off = mistake(
    "Your values are right, but no gradient flows through the branches.",
    lambda e: f"So the branches can't learn. Did you `detach` their outputs? {_gradients(e)}",
    cases=("stream.out", "gradient"),
)(_going(_branch_detached))

_stream_cut_off = mistake(
    "Your values are right, but no gradient flows back along the stream itself.",
    lambda e: f"It should also flow through the skip connections. {_gradients(e)}",
    cases=("stream.out", "gradient"),
)(_going(_stream_detached))


@mistake(
    "Your module holds copies of the branches instead of the branches themselves.",
    lambda e: unwrapped(f"""Of the {e.number("N")} branches that you were given, your module has the
    parameters of {int(e.yours("parameters.branches").sum())}. Training the copies won't change the
    originals."""),
    COUNT,
    cases=("stream", "parameters"),
)
class _CopiesTheBranches(ResidualStream):
    def __init__(self, branches: Sequence[nn.Module]):
        super().__init__([copy.deepcopy(branch) for branch in branches])


_reading_cut_off = mistake(
    "Your values are right, but no gradient flows back from the branches to their inputs.",
    lambda e: (
        "The branches themselves can learn, but nothing before them learns through them. "
        f"{_gradients(e)}"
    ),
    cases=("stream.out", "gradient"),
)(_going(_read_detached))

_input_cut_off = mistake(
    "Your values are right, but no gradient flows back to the input.",
    lambda e: f"So layers before this module can't learn. {farthest(e, 'gradient.x')}",
    cases=("stream.out", "gradient"),
)(_going(lambda branches, x: ResidualStream(list(branches))(x.detach())))

_branches_frozen = mistake(
    "Your values are right, but the parameters of the branches get no gradient.",
    lambda e: f"{_gradients_of_the_branches(e)} They won't be trained with the model.",
    cases=("stream.out", "gradient"),
)(_going(_frozen))

_nothing_learns = mistake(
    "Your values are right, but no gradient flows at all.",
    lambda e: f"{_gradients_of_the_branches(e)} Is there a `no_grad` or a `detach`?",
    cases=("stream.out", "gradient"),
)(_going(lambda branches, x: ResidualStream(list(branches))(x).detach()))


@mistake(
    "Your values are right, but you changed the list of branches that you were given.",
    lambda e: unwrapped(f"""Of {e.number("N")} branches, {int(e.yours("parameters.given").sum())}
    are still in their places in the caller's list. Loop over the list without changing it."""),
    cases=("stream", "parameters"),
)
class _ChangesTheList(ResidualStream):
    def __init__(self, branches: list[nn.Module]):
        super().__init__(list(branches))
        branches.clear()


def _gone_through(evidence: Evidence, factor: float) -> Array:
    """The output if each branch's output is multiplied by this factor before it is added."""
    x = evidence.inputs["x"].astype(float)
    for weight in evidence.inputs["weights"]:
        x = x + np.tanh(x @ weight.T) * 2 * factor
    return x


def _another_factor(evidence: Evidence) -> Finding | None:
    """All branches' outputs are multiplied by the same factor, but not by the right one."""
    mine = evidence.yours("stream.out").astype(float)
    if evidence.same("stream.out") or mine.shape != evidence.right("stream.out").shape:
        return None

    def off(factor: float) -> float:
        return float(np.square(_gone_through(evidence, factor) - mine).mean())

    best = min(np.linspace(-3, 3, 241), key=off)
    low, high = best - 0.025, best + 0.025
    for _ in range(40):  # narrow the range down by a third each time
        one, other = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, other) if off(one) < off(other) else (one, high)
    factor = (low + high) / 2
    if off(factor) > 1e-8:
        return None
    N = evidence.number("N")
    return Finding(
        "another-factor",
        f"You multiply the branches' outputs by {number(factor)} instead of 1 / √N, which is "
        f"{number(N**-0.5)}.",
        f"Each output is divided by √N, with N = {N} the number of branches."
        f"{_source(evidence, factor)} {_both(evidence)}",
        STREAM,
        tells=Tells.CAUSE,
    )


def _source(evidence: Evidence, factor: float) -> str:
    """Where such a factor may come from; empty if it is none that we know."""
    B, T, C, N = (evidence.number(name) for name in ("B", "T", "C", "N"))
    known = {
        "1, so you divide by nothing": 1,
        "√N, so you multiply where you should divide": N**0.5,
        "1 / N. The sum of N independent outputs grows like √N, not like N": 1 / N,
        "1 / (2 · N). Python reads `N ** 1 / 2` as `(N ** 1) / 2`, so write `N ** 0.5`": 0.5 / N,
        "2 / N. Python reads `N ** 1 / 2` as `(N ** 1) / 2`, so write `N ** 0.5`": 2 / N,
        "1 / √(2 · N), but N already counts every branch": (2 * N) ** -0.5,
        "1 / √(N + 1), but the input doesn't count as a branch": (N + 1) ** -0.5,
        "1 / √(N − 1), but N counts all branches": max(N - 1, 1) ** -0.5,
        "1 / √N with a root that is rounded to an integer": 1 / round(N**0.5),
        "1 / √C, with C the number of channels": C**-0.5,
        "1 / √T, with T the number of positions": T**-0.5,
        "1 / √B, with B the number of samples": B**-0.5,
        "−1 / √N, so you subtract what you should add": -(N**-0.5),
        "1 / N²": N**-2,
        "1 / ∛N": N ** (-1 / 3),
        "1 / √√N": N**-0.25,
        "1 / √(N · C)": (N * C) ** -0.5,
        "1 / √(B · T · C), with the number of entries in `x`": (B * T * C) ** -0.5,
        "1 / √(N · C²), with the number of parameters": (N * C * C) ** -0.5,
        "1 / log N": 1 / math.log(max(N, 2)),
        "1 / (1 + √N)": 1 / (1 + N**0.5),
    }
    if N == 1:  # of a single branch, too many of them are alike
        return ""
    words = [name for name, value in known.items() if abs(factor - value) < 1e-4]
    return f" Yours is {', or '.join(words)}." if words else ""


def _made_of(values: Array, known: Sequence[Array]) -> Array | None:
    """The numbers by which the known arrays are multiplied in a sum that makes these values; None
    if there are none. With few values, the first number must be 0 or 1, as no other is likely.
    """
    a = np.stack([one.ravel() for one in known], axis=1).astype(float)
    if a.shape[0] < a.shape[1] or np.linalg.matrix_rank(a) < a.shape[1]:
        return None
    factors = np.linalg.lstsq(a, values.ravel().astype(float), rcond=None)[0]
    if a.shape[0] < 4 * a.shape[1] and min(abs(factors[0]), abs(factors[0] - 1)) > 1e-3:
        return None
    return factors if np.allclose(a @ factors, values.ravel(), rtol=1e-4, atol=1e-4) else None


def _factors(of_x: str, of_outputs: Sequence[str]) -> str:
    """By what a sum multiplies the input and what the branches returned."""
    if not of_outputs:
        return f"`x` by {of_x}"
    many = f"the outputs of branches 0 to {len(of_outputs) - 1}"
    whose = "the output of branch 0" if len(of_outputs) == 1 else many
    by = of_outputs[0] if len(set(of_outputs)) == 1 else ", ".join(of_outputs)
    return f"`x` by {of_x} and {whose} by {by}"


# What may be done to the stream, or to what a branch returns, besides.
_CHANGES: dict[str, Callable[[Array], Array]] = {
    "the ReLU": lambda a: np.maximum(a, 0),
    "the tanh": np.tanh,
    "the absolute value": np.abs,
    "the norm": lambda a: (
        (a - a.mean(axis=-1, keepdims=True)) / np.sqrt(a.var(axis=-1, keepdims=True) + 1e-5)
    ),
    "the mean over the positions": lambda a: a.mean(axis=1, keepdims=True) + 0 * a,
    "the mean over the channels": lambda a: a.mean(axis=-1, keepdims=True) + 0 * a,
    "the mean over all entries": lambda a: a.mean() + 0 * a,
}


def _changed(evidence: Evidence, values: Array, known: Sequence[Array]) -> Finding | None:
    """What a branch reads or the module returns is the right stream, or has the right last output,
    but for a change that is no factor.
    """
    root = evidence.number("N") ** -0.5
    n, stream = len(known) - 1, known[0] + root * sum(known[1:])
    before = stream - root * known[-1]
    whose = "what you return" if n == evidence.number("N") else f"what branch {n} reads"
    for words, change in _CHANGES.items():
        if np.allclose(values, change(stream), atol=1e-3):
            told = f"{first_upper(whose)} is {words} of the stream instead of the stream itself."
        elif n and np.allclose(values, before + root * change(known[-1]), atol=1e-3):
            told = (
                f"In {whose}, {words} of the output of branch {n - 1} is added, divided by √N,"
                " instead of the output itself."
            )
        else:
            continue
        return Finding(
            "another-sum",
            "You change the stream, or what a branch returns, by more than the factor 1 / √N.",
            f"{told} Branches are counted from 0. {_both(evidence)}",
            STREAM,
        )
    return None


def _other_calls(evidence: Evidence) -> Finding | None:
    """Branches are left out, or run again, or run in another order."""
    called, N = evidence.answers.array("reads.called"), evidence.number("N")
    if evidence.same("stream.out") or called is None or called.tolist() == list(range(N)):
        return None
    ran = f"you ran {listed(called)}" if len(called) else "you ran none"
    return Finding(
        "other-calls",
        "You don't run each branch once, in the order of the list.",
        f"With N = {N} branches, counted from 0, {ran}. {_both(evidence)}",
        STREAM,
        tells=Tells.CAUSE,
    )


def _another_sum(evidence: Evidence) -> Finding | None:
    """The first branch that reads another sum of the input and earlier outputs than it should, or
    else the sum that is returned.
    """
    called, reads = evidence.answers.array("reads.called"), evidence.answers.array("reads.read")
    mine, x, N = evidence.yours("stream.out"), evidence.inputs["x"], evidence.number("N")
    if evidence.same("stream.out") or called is None or reads is None or not len(called):
        return None
    if mine.shape != x.shape or reads.shape != (N, *x.shape):
        return None
    written = [
        np.tanh(read @ weight.T) * 2
        for read, weight in zip(reads, evidence.inputs["weights"], strict=True)
    ]
    for n, values in enumerate([*reads, mine]):
        factors = _made_of(values, [x, *written[:n]])
        if factors is None:
            return _changed(evidence, values, [x, *written[:n]])
        if np.allclose(factors, [1.0, *[N**-0.5] * n], atol=1e-3):
            continue
        shown = [number(round(float(factor), 4) + 0.0) for factor in factors]
        right = _factors("1", [f"1 / √N = {number(N**-0.5)}"] * n)
        reading = f"Branch {n}, counted from 0, should read a sum that multiplies"
        return Finding(
            "another-sum",
            "A branch doesn't read the stream as it is when its turn comes."
            if n < N
            else "Each branch reads the right stream, but you return another sum.",
            f"{reading if n < N else 'It should multiply'} {right}. Yours multiplies"
            f" {_factors(shown[0], shown[1:])}.",
            STREAM,
        )
    return None


def _other_gradient(evidence: Evidence) -> Finding | None:
    """The values are right, but a part of the gradient doesn't arrive."""
    if not evidence.same("stream", "again", "twice") or not evidence.comparable("gradient.x"):
        return None
    mine, right = evidence.yours("gradient.branches"), evidence.right("gradient.branches")
    off = [n for n in range(len(right)) if not np.allclose(mine[n], right[n], 1e-3, 1e-4)]
    if evidence.same("gradient") or not mine.reshape(len(mine), -1).any(axis=1).all():
        return None
    whose = f"the parameters of branches {listed(off)}" if len(off) > 1 else ""
    whose = f"the parameters of branch {off[0]}" if len(off) == 1 else whose or "the input"
    return Finding(
        "part-of-the-gradient",
        "Your values are right, but a part of the gradient doesn't arrive.",
        f"The gradient of {whose} is wrong. Does something on the way back, such as `detach`, "
        "`no_grad` or `.data`, cut a branch or the stream off?",
        STREAM,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    """One number of the input, and what each branch adds to it."""
    mine, right = evidence.yours("stream.out"), evidence.right("stream.out")
    if evidence.same("stream.out") or mine.shape != right.shape:
        return None
    if more_is_known(evidence, "stream.out"):
        return None
    place = farthest_index(mine, right)
    x, n = evidence.inputs["x"].astype(float), evidence.number("N")
    added = []
    for weight in evidence.inputs["weights"]:
        step = np.tanh(x @ weight.T) * 2 / math.sqrt(n)
        x = x + step
        added.append(step[place])
    return Finding(
        "another-stream",
        "Your output isn't the input plus the outputs of the branches, each divided by √N.",
        f"At index {index(place)} the input is {number(float(evidence.inputs['x'][place]))}. The "
        f"{n} branches, each reading the current stream, add {row(np.array(added))} when divided "
        f"by √{n}, which makes {number(float(right[place]))}. Yours is "
        f"{number(float(mine[place]))}.",
        STREAM,
    )


def _wrong_when_listed_twice(evidence: Evidence) -> Finding | None:
    if not evidence.same("stream", "again") or evidence.same("twice"):
        return None
    return Finding(
        "listed-twice",
        "Your module is wrong if the same branch is in the list twice.",
        "It should then run twice and count twice in N, but `children()`, a set and the keys of a "
        f"dict hold it only once. {farthest(evidence, 'twice')}",
        STREAM,
    )


def _counted(evidence: Evidence) -> Finding | None:
    mine, right = (int(held("parameters.count")) for held in (evidence.yours, evidence.right))
    if mine == right:
        return None
    few = mine < right
    plain = "" if mine else " PyTorch doesn't look for modules in a plain Python list."
    found = np.flatnonzero(evidence.yours("parameters.branches"))
    if few and 0 < len(found) < evidence.number("N"):
        plain = (
            f" Of the {evidence.number('N')} branches, counted from 0, only"
            f" {listed(found)} {'are' if len(found) > 1 else 'is'} found."
        )
    besides = (
        "" if evidence.same("stream.out") else f" Your output is wrong, too. {_both(evidence)}"
    )
    return Finding(
        "parameters-missing" if few else "parameters-too-many",
        f"Your module has {'fewer' if few else 'more'} parameters than all its branches together.",
        f"It has {mine} instead of {right}.{plain}{besides}",
        COUNT,
    )


def _some_learn_nothing(evidence: Evidence) -> Finding | None:
    """The values are right, but only some of the branches get a gradient."""
    mine, right = evidence.yours("gradient.branches"), evidence.right("gradient.branches")
    if not evidence.same("stream", "again", "twice") or mine.shape != right.shape:
        return None
    cut = [n for n, one in enumerate(mine) if not one.any()]
    if not 0 < len(cut) < len(mine):
        return None
    which = f"branches {listed(cut)}" if len(cut) > 1 else f"branch {cut[0]}"
    return Finding(
        "some-learn-nothing",
        f"Your values are right, but the parameters of {which} get no gradient.",
        unwrapped(f"""Of {len(mine)} branches, counted from 0, the others do get one. The output of
        a branch has to reach the stream without `detach`, `no_grad` or `.data`."""),
        STREAM,
    )


TASK = Task(
    "A scaled residual stream",
    ResidualStream,
    STREAM,
    (
        Part(
            "The branches are added, divided by √N.",
            1,
            matches("stream.out", "again", "twice"),
        ),
        Part("The caller's `x` doesn't change.", 1, matches("stream")),
        Part("The gradient flows back along the stream and the branches.", 1, matches("gradient")),
        Part("The branches' parameters belong to the module.", 1, matches("parameters")),
    ),
    properties=(
        _other_calls,
        _counted,
        _another_factor,
        _another_sum,
        _some_learn_nothing,
        _other_gradient,
        _wrong_when_listed_twice,
        right_when_called_again(("stream",), ("again",), STREAM),
    ),
    examples=(_worked_out,),
    uncompared=("reads",),
    cases=_CASES,
    steps={
        "what a branch reads": Step("Each branch reads the stream as it is when its turn comes."),
        "what a branch returns": Step("A branch returns what it has to say about the stream."),
        "what a branch adds": Step(
            "The sum of N independent outputs grows like √N, so each is divided by √N, with N the "
            "number of branches."
        ),
        "the stream": Step("A branch adds to the stream and replaces nothing."),
        "your output": Step("After the last branch, the stream is returned as it is."),
    },
)
