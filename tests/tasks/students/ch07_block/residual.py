"""Students' answers to 07/residual."""

import copy
import math

import torch
from torch import nn


class StreamOfList(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.layers = nn.ModuleList()
        for branch in branches:
            self.layers.append(branch)
        self.scale = len(branches) ** -0.5

    def forward(self, x):
        y = x.clone()
        for layer in self.layers:
            y += self.scale * layer(y.clone())
        return y


class StreamByName(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.n = len(branches)
        for i, branch in enumerate(branches):
            self.add_module(f"branch{i}", branch)

    def forward(self, x):
        for i in range(self.n):
            x = torch.add(x, getattr(self, f"branch{i}")(x), alpha=1 / math.sqrt(self.n))
        return x


class StreamOfSteps(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.steps = nn.Sequential(*[Step(branch, len(branches)) for branch in branches])

    def forward(self, x):
        return self.steps(x)


class Step(nn.Module):
    def __init__(self, branch, n):
        super().__init__()
        self.branch, self.root = branch, n**0.5

    def forward(self, x):
        return x + self.branch(x) / self.root


def streaming(forward, keep=nn.ModuleList):
    """A stream whose forward is a function of the branches, √N and x."""

    class Stream(nn.Module):
        def __init__(self, branches):
            super().__init__()
            self.kept = keep(branches)

        def forward(self, x):
            return forward(self.kept, len(self.kept) ** 0.5, x)

    return Stream


def rightly(branches, root, x):
    for branch in branches:
        x = x + branch(x) / root
    return x


def one_after_another(branches, root, x):
    for branch in branches:
        x = branch(x) / root
    return x


def sequential(branches, root, x):
    return nn.Sequential(*branches)(x)


def unscaled(branches, root, x):
    for branch in branches:
        x = x + branch(x)
    return x


def everything_shrinks(branches, root, x):
    for branch in branches:
        x = x / root + branch(x) / root
    return x


def stream_shrinks(branches, root, x):
    for branch in branches:
        x = branch(x) + x / root
    return x


def normed_first(branches, root, x):
    norm = nn.LayerNorm(x.shape[-1]).requires_grad_(False)
    for branch in branches:
        x = x + branch(norm(x)) / root
    return x


def parallel(branches, root, x):
    return x + sum(branch(x) for branch in branches) / root


def always_from_the_start(branches, root, x):
    stream = x
    for branch in branches:
        stream = x + branch(stream) / root
    return stream


def plus_equals(branches, root, x):
    for branch in branches:
        x.add_(branch(x) / root)
    return x


def a_copy_that_grows(branches, root, x):
    stream = torch.empty_like(x).copy_(x)
    for branch in branches:
        stream.add_(branch(stream), alpha=1 / root)
    return stream


def copy_that_grows_too_much(branches, root, x):
    return a_copy_that_grows(branches, 0.9 * root, x)


def without_gradient(branches, root, x):
    for branch in branches:
        with torch.no_grad():
            written = branch(x)
        x = x + written / root
    return x


def stream_without_gradient(branches, root, x):
    for branch in branches:
        x = torch.add(branch(x) / root, x.detach())
    return x


RIGHT = {
    "copy and add": StreamOfList,
    "add_module": StreamByName,
    "sequential": StreamOfSteps,
    "loop": streaming(rightly),
}


class StreamThatEmptiesTheList(StreamOfList):
    def __init__(self, branches):
        super().__init__(branches[:])
        while branches:
            branches.pop(0)


class StreamOfCopies(StreamOfList):
    def __init__(self, branches):
        super().__init__([copy.deepcopy(branch) for branch in branches])


def branch_reads_less(branches, root, x):
    for branch in branches:
        x = x + branch(x / root)
    return x


class StreamOfFrozenBranches(StreamOfList):
    def __init__(self, branches):
        super().__init__(branches)
        for parameter in self.parameters():
            parameter.requires_grad = False


class StreamWithoutGradient(StreamOfList):
    @torch.no_grad()
    def forward(self, x):
        return super().forward(x)


def detached_reading(branches, root, x):
    for branch in branches:
        x = x + branch(x.clone().detach()) / root
    return x


class WeightsDivided(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)
        for parameter in self.branches.parameters():
            parameter.data *= len(branches) ** -0.5 if len(branches) > 1 else 0.5

    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x)
        return x


def first_ones_louder(branches, root, x):
    for n, branch in enumerate(branches):
        x = x + branch(x) / (n + 2) ** 0.5
    return x


def every_other_branch(branches, root, x):
    for branch in [*list(branches)[::2], next(iter(branches))]:
        x = x + branch(x) / root
    return x


def forgets_the_way_back(branches, root, x):
    for n, branch in enumerate(branches):
        x = (x if n in (0, len(branches) - 1) else x.detach()) + branch(x) / root
    return x + (x - x.detach())


def in_pairs_turned_round(branches, root, x):
    order = [list(branches)[n ^ 1] for n in range(len(branches))] if len(branches) > 1 else branches
    return rightly(order, root, x)


def outputs_bent(branches, root, x):
    for branch in branches:
        x = x + branch(x).relu() / root
    return x


class _Stream(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)


class _BranchesInTurn(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x) / len(self.branches) ** 0.5
        return x


class EndDivided(_BranchesInTurn):
    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x)
        return x / math.sqrt(len(self.branches))


# "Each reads the stream as it is when its turn comes": here it has grown by undivided outputs.
class DividesTheWholeSumAtTheEnd(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        stream = x
        for branch in self.branches:
            stream = stream + branch(stream)
        return x + (stream - x) / math.sqrt(len(self.branches))


class StreamDividedByTheTurn(_Stream):
    def forward(self, x):
        for turn, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / math.sqrt(turn)
        return x


WRONG = {
    "weights-changed": WeightsDivided,
    "another-order": streaming(in_pairs_turned_round),
    "stream-divided-instead": streaming(stream_shrinks),
    "all-divided-at-the-end": EndDivided,
    "one-skip-for-all": streaming(lambda b, root, x: x + sequential(b, root, x) / root),
    "norm-before-the-branch": streaming(normed_first),
    "reading-cut-off": streaming(detached_reading),
    "branches-frozen": StreamOfFrozenBranches,
    "nothing-learns": StreamWithoutGradient,
    "input-cut-off": streaming(lambda b, root, x: rightly(b, root, x.data)),
    "divided-before-the-branch": streaming(branch_reads_less),
    "copies-the-branches": StreamOfCopies,
    "changes-the-list": StreamThatEmptiesTheList,
    "scaled-at-the-end": DividesTheWholeSumAtTheEnd,
    "no-residual": streaming(one_after_another),
    "no-residual-no-scale": streaming(sequential),
    "divided-by-the-turn": StreamDividedByTheTurn,
    "stream-scaled": streaming(everything_shrinks),
    "all-read-the-input": streaming(parallel),
    "back-to-the-start": streaming(always_from_the_start),
    "changed-in-place": streaming(plus_equals),
    "written-over": streaming(a_copy_that_grows),
    "list-not-ModuleList": streaming(rightly, keep=tuple),
    "branch-cut-off": streaming(without_gradient),
    "stream-cut-off": streaming(stream_without_gradient),
}


class FirstBranchNotKnown(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.first, self.rest = [branches[0]], nn.ModuleList(branches[1:])

    def forward(self, x):
        return rightly([*self.first, *self.rest], (1 + len(self.rest)) ** 0.5, x)


class GainNobodyAskedFor(StreamOfList):
    def __init__(self, branches):
        super().__init__(branches)
        self.gain = nn.Parameter(torch.ones(()))


class WrittenBefore(StreamOfList):
    """What the branches wrote in the call before is added again."""

    written = 0

    def forward(self, x):
        out = super().forward(x)
        before, self.written = self.written, (out - x).mean()
        return out + before


class StreamOfChildren(StreamByName):
    def forward(self, x):
        for branch in self.children():
            x = x + branch(x) / self.n**0.5
        return x


class FirstBranchDetached(StreamOfList):
    def forward(self, x):
        for n, branch in enumerate(self.layers):
            written = branch(x) * self.scale
            x = x + (written if n else written.detach())
        return x


class UnscaledStreamOfAPlainList(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = branches

    def forward(self, x):
        return unscaled(self.branches, 1, x)


ODD = [
    (streaming(outputs_bent), "set-the-negative-numbers-of-what-a-branch-returns-to-0"),
    (streaming(copy_that_grows_too_much), "error"),
    (FirstBranchDetached, "some-learn-nothing"),
    (UnscaledStreamOfAPlainList, "parameters-missing"),
    (StreamOfChildren, "listed-twice"),
    (FirstBranchNotKnown, "parameters-missing"),
    (GainNobodyAskedFor, "parameters-too-many"),
    (WrittenBefore, "wrong-when-called-again"),
    (streaming(lambda branches, root, x: rightly(branches, root, x).squeeze()), "axis-of-one"),
    (streaming(lambda branches, root, x: rightly(branches, root, x).squeeze(-1)), "axis-of-one"),
    (streaming(lambda branches, root, x: rightly(branches, root, x)[0]), "shape"),
    (streaming(lambda branches, root, x: rightly(branches, root, x) * 0.9), "another-sum"),
    (streaming(first_ones_louder), "another-sum"),
    (streaming(every_other_branch), "other-calls"),
    (streaming(forgets_the_way_back), "part-of-the-gradient"),
]


# --- Answers that no list names ---


class HalfInsteadOfRoot(nn.Module):
    """Writes the root as `N ** 1 / 2`, which is N / 2, and divides by that."""

    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        root = len(self.branches) ** 1 / 2
        for branch in self.branches:
            x = x + branch(x) / root
        return x


UNLISTED = {
    13: [(HalfInsteadOfRoot, "used-half-of-N-instead-of-root-of-N-in-what-a-branch-adds")],
}
