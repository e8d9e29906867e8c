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
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import right_when_called_again
from course_judges.quoting import farthest, farthest_index, ratio
from course_judges.wording import index, listed, number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

Forward = Callable[[Sequence[nn.Module], Tensor], Tensor]


class ResidualStream(nn.Module):
    """x plus what each branch writes, each divided by √N."""

    def __init__(self, branches: Sequence[nn.Module]):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        for branch in self.branches:
            x = x + branch(x) / math.sqrt(len(self.branches))
        return x


class _Listed(nn.Module):
    def __init__(self, branches: Sequence[nn.Module]):
        super().__init__()
        self.branches = list(branches)

    def forward(self, x: Tensor) -> Tensor:
        for branch in self.branches:
            x = x + branch(x) / math.sqrt(len(self.branches))
        return x


def _going(forward: Forward) -> type[nn.Module]:
    """The same branches, gone through in another way."""

    class Answer(nn.Module):
        def __init__(self, branches: Sequence[nn.Module]):
            super().__init__()
            self.branches = nn.ModuleList(branches)

        def forward(self, x: Tensor) -> Tensor:
            return forward(list(self.branches), x)

    return Answer


def _step(step: Callable[[Tensor, Tensor, int], Tensor]) -> type[nn.Module]:
    """Another way to add one branch: from x, what it wrote, and N."""

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
    """The branches one after the other, and a single addition at the end."""

    def forward(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
        return x + nn.Sequential(*branches)(x) / by(len(branches))

    return _going(forward)


def _beside(by: Callable[[int], float]) -> type[nn.Module]:
    """All branches read what entered, and their sum is divided in another way."""

    def forward(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
        written = torch.stack([branch(x) for branch in branches])
        return x + written.sum(dim=0) / by(len(branches))

    return _going(forward)


def _read_normed(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches:
        x = x + branch(nn.functional.layer_norm(x, x.shape[-1:])) / math.sqrt(len(branches))
    return x


def _only(which: int, count: bool) -> type[nn.Module]:
    """One branch alone, with the root of how many there are, or of 1."""

    def forward(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
        return x + branches[which](x) / math.sqrt(len(branches) if count else 1)

    return _going(forward)


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


def _without_the_last(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
    for branch in branches[:-1]:
        x = x + branch(x) / math.sqrt(len(branches))
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
    """True if a tensor was changed that was kept for the way back, and nothing else is wrong."""
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
    return unwrapped("""Going backward stops besides, since a branch needs what it read as it was
    then: a clone of `x` at the start would not help there. """)


def _lengths(evidence: Evidence) -> str:
    return unwrapped(f"""With N = {evidence.number("N")} branches your stream leaves
    {ratio(evidence, "stream.out"):.3g} times as large as it should.""")


def _both(evidence: Evidence) -> str:
    return f"{_lengths(evidence)} {farthest(evidence, 'stream.out')}"


def _gradients(evidence: Evidence) -> str:
    return unwrapped(f"""The gradient at the input is {ratio(evidence, "gradient.x"):.3g} times as
    large as it should be. {farthest(evidence, "gradient.x")}""")


def _gradients_of_the_branches(evidence: Evidence) -> str:
    mine = evidence.yours("gradient.branches")
    none = int((mine == 0).all(axis=(1, 2)).sum())
    return f"Of {len(mine)} branches {none} have no gradient at their parameters."


_CASES = ("stream.out",)


_no_residual = mistake(
    "Each branch replaces the stream; it should add to it.",
    lambda e: f"Nothing of what entered is left at the end. {_both(e)}",
)(_step(lambda x, written, n: written / math.sqrt(n)))  # noqa: ARG005

_no_residual_no_scale = mistake(
    "Each branch replaces the stream, and nothing is scaled: these are layers in a row.",
    lambda e: f"Nothing of what entered is left at the end. {_both(e)}",
)(_step(lambda x, written, n: written))  # noqa: ARG005

_residual_twice = mistake(
    "The stream was added twice in each branch.",
    lambda e: unwrapped(f"""It doubles {e.number("N")} times, to {2 ** e.number("N")} times its
    size. {_both(e)}"""),
)(_step(lambda x, written, n: x + x + written / math.sqrt(n)))

_scale_missing = mistake(
    "What the branches wrote was not divided by √N.",
    lambda e: f"√N is {math.sqrt(e.number('N')):.3f} here. {_both(e)}",
)(_step(lambda x, written, n: x + written))  # noqa: ARG005

_divided_by_N = mistake(
    "You divided by N; divide by its root.",
    lambda e: unwrapped(f"""Independent contributions add up like √N, not like N, so the stream
    hardly hears its branches. {_both(e)}"""),
)(_step(lambda x, written, n: x + written / n))

_divided_by_2N = mistake(
    "You divided by 2 N; divide by the root of N.",
    lambda e: unwrapped(f"""`N ** 1 / 2` is (N ** 1) / 2, since `**` binds before `/`, and what is
    divided by N ** 1 and then by 2 is divided by 2 N. Write `N ** 0.5`. {_both(e)}"""),
)(_step(lambda x, written, n: x + written / n / 2))

_divided_by_root_2N = mistake(
    "You divided by √(2 N); divide by √N.",
    lambda e: f"N counts every branch already, not every block of two. {_both(e)}",
)(_step(lambda x, written, n: x + written / math.sqrt(2 * n)))

_divided_by_the_channels = mistake(
    "You divided by √C; divide by √N, the root of how many branches there are.",
    lambda e: f"Here C is {e.number('C')} and N is {e.number('N')}. {_both(e)}",
)(_step(lambda x, written, n: x + written / math.sqrt(x.shape[-1])))  # noqa: ARG005

_multiplied_by_the_root = mistake("You multiplied by √N; divide by it.", _both)(
    _step(lambda x, written, n: x + written * math.sqrt(n))
)

_divided_by_the_turn = mistake(
    "You divided each branch by the root of its place in the list; all are divided by √N.",
    lambda e: f"The first branch then adds all that it wrote. {_both(e)}",
)(_going(_by_the_turn))

_divided_by_one_more = mistake(
    "You divided by √(N + 1); divide by √N.",
    lambda e: f"N is the number of branches; what entered is not one of them. {_both(e)}",
)(_step(lambda x, written, n: x + written / math.sqrt(n + 1)))

_divided_by_one_less = mistake(
    "You divided by √(N − 1); divide by √N.",
    lambda e: f"N is the number of branches, with the first and with the last. {_both(e)}",
)(_step(lambda x, written, n: x + written / math.sqrt(max(n - 1, 1))))

_divided_by_the_length = mistake(
    "You divided by √T, the number of positions; divide by √N, the number of branches.",
    lambda e: f"Here T is {e.number('T')} and N is {e.number('N')}. {_both(e)}",
)(_step(lambda x, written, n: x + written / math.sqrt(x.shape[1])))  # noqa: ARG005

_divided_by_the_samples = mistake(
    "You divided by √B, the number of samples; divide by √N, the number of branches.",
    lambda e: f"Here B is {e.number('B')} and N is {e.number('N')}. {_both(e)}",
)(_step(lambda x, written, n: x + written / math.sqrt(len(x))))  # noqa: ARG005

_divided_before_the_branch = mistake(
    "You divided what a branch reads; divide what it writes.",
    lambda e: f"The branch then adds all that it wrote. {_both(e)}",
)(_going(_read_divided))

_stream_scaled = mistake(
    "You divided the whole sum; only what the branch wrote is divided.",
    lambda e: f"What entered shrinks in each of {e.number('N')} branches. {_both(e)}",
    also=(
        _step(lambda x, written, n: (x + written) / math.sqrt(2)),  # noqa: ARG005
        _step(lambda x, written, n: (x + written) / 2),  # noqa: ARG005
    ),
)(_step(lambda x, written, n: (x + written) / math.sqrt(n)))

_stream_divided_instead = mistake(
    "You divided the stream and left what the branches wrote as it was; it is the other way round.",
    lambda e: f"What entered shrinks in each of {e.number('N')} branches. {_both(e)}",
)(_step(lambda x, written, n: x / math.sqrt(n) + written))

_all_divided_at_the_end = mistake(
    "You divided the whole stream at the end, what entered with it.",
    lambda e: unwrapped(f"""Each branch divides what it writes, before the next one reads, and
    nothing else is divided. {_both(e)}"""),
)(_going(_whole_scaled_at_the_end))

_one_skip_for_all = mistake(
    "Each branch after the first reads only what the one before it wrote, and `x` is added once.",
    lambda e: f"Each of the {e.number('N')} branches adds to the stream, and reads it. {_both(e)}",
    also=(_in_a_row(lambda n: 1),),  # noqa: ARG005
)(_in_a_row(math.sqrt))

_norm_before_the_branch = mistake(
    "You normed what a branch reads; it reads the stream as it is.",
    lambda e: f"The branches are whole as you are given them. {_both(e)}",
)(_going(_read_normed))

_all_read_the_input = mistake(
    "Every branch read the `x` that entered; each should read the stream as it then is.",
    lambda e: f"No branch hears of the ones before it. {_both(e)}",
    also=(_beside(lambda n: 1), _beside(float)),  # noqa: ARG005
)(_going(_side_by_side))

_back_to_the_start = mistake(
    "Each branch was added to the `x` that entered, not to the stream.",
    lambda e: f"Of {e.number('N')} branches only the last one's writing is left. {_both(e)}",
)(_going(_back_to_the_start_answer))

_scaled_at_the_end = mistake(
    "You divided what all branches wrote together; each divides its own before the next one reads.",
    lambda e: f"The later branches read a stream that has grown too much. {_both(e)}",
)(_going(_sum_scaled_at_the_end))

_last_branch_alone = mistake(
    "Only the last branch is left of those you were given.",
    lambda e: unwrapped(f"""There were {e.number("N")}. Did they take each other's place, under one
    name? {_both(e)}"""),
    also=(_only(-1, count=True),),
)(_only(-1, count=False))

_first_branch_alone = mistake(
    "Only the first branch is left of those you were given.",
    lambda e: f"There were {e.number('N')}. {_both(e)}",
    also=(_only(0, count=True),),
)(_only(0, count=False))

_one_branch_for_all = mistake(
    "One branch took the turns of all.",
    lambda e: f"There were {e.number('N')} branches, each with parameters of its own. {_both(e)}",
    also=(_going(lambda branches, x: ResidualStream([branches[-1]] * len(branches))(x)),),
)(_going(lambda branches, x: ResidualStream([branches[0]] * len(branches))(x)))


def _some_of_them(
    chosen: Callable[[Sequence[nn.Module]], Sequence[nn.Module]], *, counted: bool
) -> type[nn.Module]:
    """Some of the branches, with the root of how many these are, or of how many there are."""

    def forward(branches: Sequence[nn.Module], x: Tensor) -> Tensor:
        left = chosen(branches)
        for branch in left:
            x = x + branch(x) / math.sqrt(len(left) if counted else len(branches))
        return x

    return _going(forward)


_last_branch_forgotten = mistake(
    "The last branch never has its turn.",
    lambda e: f"There are {e.number('N')}. {_both(e)}",
    also=(_some_of_them(lambda branches: branches[:-1], counted=True),),
)(_going(_without_the_last))

_first_branch_forgotten = mistake(
    "The first branch never has its turn.",
    lambda e: f"There are {e.number('N')}. {_both(e)}",
    also=(_some_of_them(lambda branches: branches[1:], counted=True),),
)(_some_of_them(lambda branches: branches[1:], counted=False))

_wrong_order = mistake(
    "The branches were taken from the last to the first.", lambda e: farthest(e, "stream.out")
)(_going(lambda branches, x: ResidualStream(list(branches)[::-1])(x)))

_changed_in_place = mistake(
    "`x += …` writes into the tensor of whoever called you.",
    lambda e: unwrapped(f"""The result is right, and the caller's `x` is changed.
    {farthest(e, "stream.x")} {_and_going_backward(e)}Write `x = x + …`."""),
    cases=("stream",),
)(_going(_in_place))

_written_over = mistake(
    "Going forward your stream is right; going backward it stops, for you change tensors in place.",
    lambda e: unwrapped(f"""For the way back each of the {e.number("N")} branches needs what it
    read, and `x += …` writes over it, even if `x` is a clone. `x = x + …` makes a new tensor. It
    is `backward()` that stops with {e.answers.errors["gradient"].kind}."""),
    recognized=_stops_going_backward,
)(_going(_cloned_once))

_list_not_ModuleList = mistake(
    "The branches stand in a plain Python list, where PyTorch does not look.",
    lambda e: unwrapped(f"""Your module counts {int(e.yours("parameters.count"))} parameters; its
    branches have {int(e.right("parameters.count"))}. They are not trained, moved or saved."""),
    COUNT,
    cases=("stream", "parameters"),
)(_Listed)

_branch_cut_off = mistake(
    "The values are right, and no gradient flows through the branches.",
    lambda e: unwrapped(f"""The branches do not learn, and what stands before them hears nothing of
    what they read. {_gradients(e)}"""),
    cases=("stream.out", "gradient"),
)(_going(_branch_detached))

_stream_cut_off = mistake(
    "The values are right, and no gradient flows along the stream.",
    lambda e: f"The straight way back is cut. {_gradients(e)}",
    cases=("stream.out", "gradient"),
)(_going(_stream_detached))


@mistake(
    "Your module holds copies of the branches; it should hold those that it was given.",
    lambda e: unwrapped(f"""Of {e.number("N")} branches it knows the parameters of
    {int(e.yours("parameters.branches").sum())}. Train it, and the branches of whoever called you
    stay what they were."""),
    COUNT,
    cases=("stream", "parameters"),
)
class _CopiesTheBranches(ResidualStream):
    def __init__(self, branches: Sequence[nn.Module]):
        super().__init__([copy.deepcopy(branch) for branch in branches])


_reading_cut_off = mistake(
    "The values are right, and no gradient flows back through what the branches read.",
    lambda e: (
        f"The branches learn, and what stands before them learns nothing of them. {_gradients(e)}"
    ),
    cases=("stream.out", "gradient"),
)(_going(_read_detached))

_input_cut_off = mistake(
    "The values are right, and no gradient comes back to what entered.",
    lambda e: f"What stands before the stream learns nothing. {farthest(e, 'gradient.x')}",
    cases=("stream.out", "gradient"),
)(_going(lambda branches, x: ResidualStream(list(branches))(x.detach())))

_branches_frozen = mistake(
    "The values are right, and the parameters of the branches get no gradient.",
    lambda e: f"{_gradients_of_the_branches(e)} They are not trained with the model.",
    cases=("stream.out", "gradient"),
)(_going(_frozen))

_nothing_learns = mistake(
    "The values are right, and no gradient flows at all.",
    lambda e: f"{_gradients_of_the_branches(e)} Is there a `no_grad` or a `detach`?",
    cases=("stream.out", "gradient"),
)(_going(lambda branches, x: ResidualStream(list(branches))(x).detach()))

_root_rounded = mistake(
    "You divided by an integer next to √N; the root is not to be rounded.",
    lambda e: f"√N is {math.sqrt(e.number('N')):.3f} here. {_both(e)}",
    also=(_step(lambda x, written, n: x + written / round(math.sqrt(n))),),
)(_step(lambda x, written, n: x + written / math.isqrt(n)))


@mistake(
    "The values are right, and you changed the list of branches that you were given.",
    lambda e: unwrapped(f"""Of {e.number("N")} branches {int(e.yours("parameters.given").sum())} are
    still at their places in the list of whoever called you. Loop over the list, and leave it as it
    is."""),
    cases=("stream", "parameters"),
)
class _ChangesTheList(ResidualStream):
    def __init__(self, branches: list[nn.Module]):
        super().__init__(list(branches))
        branches.clear()


def _gone_through(evidence: Evidence, factor: float) -> Array:
    """What leaves if each branch adds what it wrote times this factor."""
    x = evidence.inputs["x"].astype(float)
    for weight in evidence.inputs["weights"]:
        x = x + np.tanh(x @ weight.T) * 2 * factor
    return x


def _another_factor(evidence: Evidence) -> Finding | None:
    """All branches add what they wrote times one factor, and that is another one."""
    mine = evidence.yours("stream.out").astype(float)
    if evidence.same("stream.out") or mine.shape != evidence.right("stream.out").shape:
        return None

    def off(factor: float) -> float:
        return float(np.square(_gone_through(evidence, factor) - mine).mean())

    best = min(np.linspace(-3, 3, 241), key=off)
    low, high = best - 0.025, best + 0.025
    for _ in range(40):  # the least of three parts, again and again
        one, other = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, other) if off(one) < off(other) else (one, high)
    factor = (low + high) / 2
    if off(factor) > 1e-8:
        return None
    N = evidence.number("N")
    return Finding(
        "another-factor",
        f"You multiply what each branch wrote by {number(factor)}; 1 / √N is {number(N**-0.5)}.",
        f"N = {N} is the number of branches, and each is divided by its root. {_both(evidence)}",
        STREAM,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    """What enters at one place, and what each branch adds to it."""
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
        "What leaves your stream is not what entered plus what each branch adds.",
        f"At index {index(place)} {number(float(evidence.inputs['x'][place]))} enters. The {n} "
        f"branches, each reading the stream as it then is, add {row(np.array(added))} when divided "
        f"by √{n}; so {number(float(right[place]))} leaves. Yours is {number(float(mine[place]))}.",
        STREAM,
    )


def _wrong_when_listed_twice(evidence: Evidence) -> Finding | None:
    if not evidence.same("stream", "again") or evidence.same("twice"):
        return None
    return Finding(
        "listed-twice",
        "Your module is wrong where one branch stands in the list twice.",
        "Then it has two turns, and counts twice in N. `children()`, a set and the keys of a dict "
        f"know it once. {farthest(evidence, 'twice')}",
        STREAM,
    )


def _counted(evidence: Evidence) -> Finding | None:
    mine, right = (int(held("parameters.count")) for held in (evidence.yours, evidence.right))
    if mine == right:
        return None
    few = mine < right
    plain = "" if mine else " In a plain Python list PyTorch does not look for modules."
    besides = (
        "" if evidence.same("stream.out") else f" What leaves is wrong, too: {_both(evidence)}"
    )
    return Finding(
        "parameters-missing" if few else "parameters-too-many",
        f"Your module has {'fewer' if few else 'more'} parameters than its branches together.",
        f"It counts {mine}; they have {right}.{plain}{besides}",
        COUNT,
    )


def _some_learn_nothing(evidence: Evidence) -> Finding | None:
    """The values are right, and some branches get no gradient while others do."""
    mine, right = evidence.yours("gradient.branches"), evidence.right("gradient.branches")
    if not evidence.same("stream", "again", "twice") or mine.shape != right.shape:
        return None
    cut = [n for n, one in enumerate(mine) if not one.any()]
    if not 0 < len(cut) < len(mine):
        return None
    which = f"branches {listed(cut)}" if len(cut) > 1 else f"branch {cut[0]}"
    return Finding(
        "some-learn-nothing",
        f"The values are right, and the parameters of {which} get no gradient.",
        unwrapped(f"""Counted from 0, of {len(mine)}; the others get some. What a branch writes has
        to reach the stream without `detach`, `no_grad` or `.data`."""),
        STREAM,
    )


TASK = Task(
    "A scaled residual stream",
    ResidualStream,
    STREAM,
    (
        Part(
            "What leaves is what entered plus what each branch wrote, divided by √N.",
            1,
            matches("stream.out", "again", "twice"),
        ),
        Part("And the caller's `x` is left as it was.", 1, matches("stream")),
        Part("The gradient comes back along the stream and the branches.", 1, matches("gradient")),
        Part("The branches' parameters belong to the module.", 1, matches("parameters")),
    ),
    properties=(
        _counted,
        _another_factor,
        _some_learn_nothing,
        _wrong_when_listed_twice,
        right_when_called_again(("stream",), ("again",), STREAM),
    ),
    examples=(_worked_out,),
    cases=_CASES,
)
