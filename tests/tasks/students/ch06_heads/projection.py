"""Students' answers to 06/projection."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class MixedPlainly(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.projection = nn.Linear(head_size * len(heads), n_embd, bias=True)
        self.parts = nn.ModuleList(heads)

    def join(self, found):
        return torch.cat(found, dim=2)

    def forward(self, x):
        return self.projection(self.join([part(x) for part in self.parts]))


class MixedByHand(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        for h, head in enumerate(heads):
            self.add_module(f"head_{h}", head)
        self.count = len(heads)
        self.projection = nn.Module()
        self.projection.weight = nn.Parameter(torch.zeros(n_embd, head_size * self.count))
        self.projection.bias = nn.Parameter(torch.zeros(n_embd))

    def forward(self, x):
        found = [getattr(self, f"head_{h}")(x) for h in range(self.count)]
        blocks = self.projection.weight.chunk(self.count, 1)
        return sum(f @ w.T for f, w in zip(found, blocks, strict=True)) + self.projection.bias


class MixedWithZeroDropout(MixedPlainly):
    def __init__(self, *args):
        super().__init__(*args)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        return self.dropout(super().forward(x))


class NeverProjected(MixedPlainly):
    def forward(self, x):
        return self.join([part(x) for part in self.parts])


class FromTheChapter(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(n_embd, n_embd)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        together = torch.cat([head(x) for head in self.heads], dim=-1)
        return self.dropout(self.projection(together))


class Added(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(head_size, n_embd)

    def forward(self, x):
        return self.projection(sum(head(x) for head in self.heads))


class NoBias(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        self.projection.bias = None


class FirstHeadAgain(MixedPlainly):
    def forward(self, x):
        return self.projection(self.parts[0](x).repeat(1, 1, len(self.parts)))


class Dealt(MixedPlainly):
    def join(self, found):
        B, T, _ = found[0].shape
        return torch.stack(found, 3).reshape(B, T, -1)


class InAList(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = list(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        return self.projection(torch.cat([h(x) for h in self.heads], -1))


class CopiedHeads(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__([copy.deepcopy(h) for h in [*heads, heads[0]]], head_size, n_embd)


class Unfilled(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        raise NotImplementedError


RIGHT = {
    "another attribute": MixedPlainly,
    "blocks by hand": MixedByHand,
    "with dropout": MixedWithZeroDropout,
    "a function": lambda heads, size, C: MixedPlainly(heads, size, C),
}


class UsesUpTheList(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(list(heads), head_size, n_embd)
        while heads:
            heads.pop()


class HeadsCopied(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(copy.deepcopy(heads), head_size, n_embd)


class HeadsBegunAnew(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        for part in self.parts:
            for parameter in part.parameters():
                nn.init.zeros_(parameter)


class MeanForAll(MixedPlainly):
    def join(self, found):
        return torch.cat([sum(found) / len(found)] * len(found), -1)


class NormedFirst(MixedPlainly):
    def forward(self, x):
        x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, False, keepdim=True) + 1e-5).sqrt()
        return super().forward(x)


class NormedBetween(MixedPlainly):
    def join(self, found):
        found = torch.cat(found, -1)
        return F.layer_norm(found, found.shape[2:])


class NormNobodyAskedFor(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        self.norm = nn.LayerNorm(n_embd)


class BiasOfEach(MixedPlainly):
    def forward(self, x):
        blocks = self.projection.weight.chunk(len(self.parts), dim=1)
        mixed = [
            F.linear(part(x), block, self.projection.bias)
            for part, block in zip(self.parts, blocks, strict=True)
        ]
        return torch.stack(mixed).sum(0)


class WeightAlone(MixedPlainly):
    def forward(self, x):
        return self.join([part(x) for part in self.parts]) @ self.projection.weight.T


class Frozen(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        for head in heads:
            for parameter in head.parameters():
                parameter.requires_grad = False
        super().__init__(heads, head_size, n_embd)


class NothingToMix(MixedPlainly):
    def forward(self, x):
        if len(self.parts) > 1:
            return super().forward(x)
        return self.join([part(x) for part in self.parts])


class TakesWhatItGives(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        self.projection = nn.Linear(n_embd, head_size * len(heads))


class TanhAfter(MixedPlainly):
    def forward(self, x):
        return super().forward(x).tanh()


class SigmoidBefore(MixedPlainly):
    def join(self, found):
        return super().join(found).sigmoid()


class Reshaped(MixedPlainly):
    def join(self, found):
        return torch.stack(found).transpose(0, 1).reshape(*found[0].shape[:2], -1)


class CutOff(MixedPlainly):
    def join(self, found):
        return super().join(found).detach()


class SizedLater(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        self.projection = nn.LazyLinear(n_embd)


class NamedOut(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.out = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        return self.out(torch.cat([head(x) for head in self.heads], -1))


class OneOfAKind(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        self.parts = nn.ModuleList({id(head): head for head in heads}.values())


class Queued(MixedPlainly):
    def join(self, found):
        return torch.cat(found, dim=1)


class RunningSums(MixedPlainly):
    def join(self, found):
        return torch.stack(found, 2).cumsum(2).flatten(2)


class BiasAgain(MixedPlainly):
    def forward(self, x):
        return super().forward(x) + self.projection.bias


WRONG = {
    "gradient-cut-off": CutOff,
    "lazy-projection": SizedLater,
    "other-name": NamedOut,
    "heads-held-once": OneOfAKind,
    "joined-otherwise": Queued,
    "in-and-out-exchanged": TakesWhatItGives,
    "bent-output": TanhAfter,
    "bent-between": SigmoidBefore,
    "viewed-together": Reshaped,
    "averages-heads": MeanForAll,
    "normed-input": NormedFirst,
    "normed-between": NormedBetween,
    "more-parameters": NormNobodyAskedFor,
    "copies-the-heads": HeadsCopied,
    "changes-the-heads": HeadsBegunAnew,
    "changes-the-list": UsesUpTheList,
    "no-output-projection": NeverProjected,
    "assumes-full-width": FromTheChapter,
    "sums-not-concatenates": Added,
    "no-bias": NoBias,
    "shared-head": FirstHeadAgain,
    "interleaved": Dealt,
    "list-not-ModuleList": InAList,
    "bias-for-each-head": BiasOfEach,
    "bias-left-out": WeightAlone,
    "one-head-unmixed": NothingToMix,
    "freezes-the-heads": Frozen,
}


class OneHeadAfterTheOther(MixedPlainly):
    """Each head reads what is left of x when the findings of those before are taken away."""

    def forward(self, x):
        found = []
        for part in self.parts:
            found.append(part(x))
            x = x - found[-1].mean(-1, keepdim=True)
        return self.projection(self.join(found))


class AllButTheFirstKnown(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        self.first, self.parts = [heads[0]], nn.ModuleList(heads[1:])

    def forward(self, x):
        return self.projection(self.join([part(x) for part in [*self.first, *self.parts]]))


class FindingsOnSelf(MixedPlainly):
    """What the first call found is mixed again in each later one."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        self.found = []

    def forward(self, x):
        for part in self.parts:
            self.found.append(part(x))
        return self.projection(self.join(self.found[: len(self.parts)]))


class Squeezed(MixedPlainly):
    def forward(self, x):
        return super().forward(x).squeeze()


class AskedByChildren(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        for h, head in enumerate(heads):
            self.add_module(f"head_{h}", head)
        self.width = len(heads) * head_size
        self.projection = nn.Linear(self.width, n_embd)

    def forward(self, x):
        found = torch.cat([one(x) for one in self.children() if one is not self.projection], -1)
        return self.projection(F.pad(found, (0, self.width - found.shape[-1])))


class HeadsOnTheClass(MixedPlainly):
    every_head = ()

    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        HeadsOnTheClass.every_head += tuple(heads)

    def forward(self, x):
        return self.projection(self.join([h(x) for h in self.every_head[-len(self.parts) :]]))


class WritesIntoX(MixedPlainly):
    def forward(self, x):
        out = super().forward(x)
        x -= x.mean()
        return out


ODD = [
    (RunningSums, "heads-mixed"),
    (BiasAgain, "more-added"),
    (HeadsOnTheClass, "changed-by-another-module"),
    (WritesIntoX, "changes-its-input"),
    (AskedByChildren, "listed-twice"),
    (AllButTheFirstKnown, "parameters-missing"),
    (FindingsOnSelf, "shape"),
    (Squeezed, "axis-of-one"),
    (OneHeadAfterTheOther, "first-head-right"),
    (lambda heads, size, C: heads[0], "error"),
    (CopiedHeads, "error"),
]


SCAFFOLD = Unfilled


# --- Answers that no list names ---


class _Mixed(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(head_size * len(heads), n_embd)

    def together(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)

    def forward(self, x):
        return self.projection(self.together(x))


class HeadsDetached(_Mixed):
    def forward(self, x):
        return self.projection(self.together(x) * 0.5)


# "nothing else happens: no activation, no dropout, nothing added"
class DropoutAfterTheProjection(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        together = torch.cat([head(x) for head in self.heads], dim=-1)
        return self.dropout(self.projection(together))


UNLISTED = {
    1: [(HeadsDetached, "findings-times-a-factor")],
    4: [(DropoutAfterTheProjection, "not-repeatable")],
}
