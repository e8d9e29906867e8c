"""Which part of a GPT each tensor of somebody else's program is.

Names tell nothing: shapes say which parts a tensor may be, and the logits say which it is. Every
reading of the shapes is tried, and one counts as found when a GPT with these weights gives the
program's own logits. So layers may be fused, split by heads, transposed, with biases or without.

A program may have parts that the GPT of chapter 08 has not, such as a gate or rotations. Then the
error names them.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.config import Config
from course_lib.contexts import evaluation_mode
from course_lib.errors import CheckpointError
from course_lib.model import GPT
from course_lib.nanogpt import with_gelu

# Two float32 computations of one model differ by less, and no two readings of one state agree so
# well.
_SAME = 2e-3

# With a form that is not the course's, only so many readings are tried, likely ones first: it is
# for a message.
_READINGS_FOR_A_MESSAGE = 8


@dataclass(frozen=True)
class Form:
    """What a program does with its weights, where programs differ.

    Attributes
    ----------
    activation : str
        "relu", "gelu", "gelu-tanh", "silu", or "none".
    norm : str
        "layer" or "rms".
    after : bool
        Whether blocks normalize what they have added up, as in 2017.
    last_norm : bool
        Whether there is a norm before the output.
    scale : str
        What scores are divided by: "√D", "1", "√C", "D".
    over : str
        What a softmax runs over: "keys", or "queries" by mistake.
    """

    activation: str = "relu"
    norm: str = "layer"
    after: bool = False
    last_norm: bool = True
    scale: str = "√D"
    over: str = "keys"


# What the figures compute; a tanh in GELU is at most 5e-4 from it.
ACCEPTED = (Form(), Form("gelu"), Form("gelu-tanh"))

# Forms that are tried to say what is different: each has one thing that no accepted one has.
_OTHER_FORMS = (
    *(replace(one, norm="rms") for one in ACCEPTED),
    *(
        replace(one, after=True, last_norm=last_norm)
        for last_norm in (False, True)
        for one in ACCEPTED
    ),
    *(replace(one, last_norm=False) for one in ACCEPTED),
    *(replace(one, scale=scale) for scale in ("1", "√C", "D") for one in ACCEPTED),
    *(Form(activation) for activation in ("silu", "none")),
    *(replace(one, over="queries") for one in ACCEPTED),
)


@dataclass(frozen=True)
class BlockParts:
    """The weights of a block, outputs × inputs; heads are rows of `query`, `key` and `value`.

    Attributes
    ----------
    query, key, value, projection : (C, C) float
    biases : tuple of (C,) float
        Of the four.
    widen : (F, C), narrow : (C, F), widen_bias : (F,), narrow_bias : (C,)
    norms : two pairs of (C,) float
        Weight and bias before attention, and before the feed-forward layers.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    projection: Tensor
    biases: tuple[Tensor, Tensor, Tensor, Tensor]
    widen: Tensor
    narrow: Tensor
    widen_bias: Tensor
    narrow_bias: Tensor
    norms: tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Parts:
    """A whole model's weights by what they are for.

    Attributes
    ----------
    tokens, output : (V, C) float
    positions : (block_size, C) float
    output_bias : (V,) float
    norm : pair of (C,) float
    blocks : tuple of BlockParts
    n_head : int
    """

    tokens: Tensor
    positions: Tensor
    output: Tensor
    output_bias: Tensor
    norm: tuple[Tensor, Tensor]
    blocks: tuple[BlockParts, ...]
    n_head: int

    def logits(self, tokens: Tensor, form: Form = Form()) -> Tensor:
        """(B, T) → (B, T, V), what a program of this form computes."""
        x = self.tokens[tokens] + self.positions[: tokens.shape[1]]  # (B, T, C)
        for block in self.blocks:
            for branch, norm in zip((self._attend, _forward), block.norms, strict=True):
                if form.after:
                    x = _norm(x + branch(x, block, form), norm, form)
                else:
                    x = x + branch(_norm(x, norm, form), block, form)
        x = _norm(x, self.norm, form) if form.last_norm else x
        return x @ self.output.mT + self.output_bias

    def _attend(self, x: Tensor, block: BlockParts, form: Form) -> Tensor:
        B, T, C = x.shape
        H, D = self.n_head, C // self.n_head
        mixes = (block.query, block.key, block.value)
        query, key, value = (
            (x @ weight.mT + bias).view(B, T, H, D).transpose(1, 2)  # (B, H, T, D)
            for weight, bias in zip(mixes, block.biases, strict=False)
        )
        divisor = {"√D": math.sqrt(D), "1": 1.0, "√C": math.sqrt(C), "D": float(D)}[form.scale]
        scores = query @ key.mT / divisor  # (B, H, T, T)
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, -math.inf).softmax(
            dim=-1 if form.over == "keys" else -2
        )
        found = (weights @ value).transpose(1, 2).reshape(B, T, C)
        return found @ block.projection.mT + block.biases[3]


def _forward(x: Tensor, block: BlockParts, form: Form) -> Tensor:
    hidden = x @ block.widen.mT + block.widen_bias
    if form.activation == "relu":
        hidden = hidden.relu()
    elif form.activation == "gelu":
        hidden = F.gelu(hidden)
    elif form.activation == "gelu-tanh":
        cubic = hidden + 0.044715 * hidden**3
        hidden = 0.5 * hidden * (1 + (math.sqrt(2 / math.pi) * cubic).tanh())
    elif form.activation == "silu":
        hidden = hidden * hidden.sigmoid()
    return hidden @ block.narrow.mT + block.narrow_bias


def _norm(x: Tensor, weight_and_bias: tuple[Tensor, Tensor], form: Form) -> Tensor:
    weight, bias = weight_and_bias
    if form.norm == "layer":
        x = x - x.mean(dim=-1, keepdim=True)
    return x / ((x * x).mean(dim=-1, keepdim=True) + 1e-5).sqrt() * weight + bias


@dataclass(frozen=True)
class Found:
    """A reading of a program's weights that gives its logits.

    Attributes
    ----------
    parts : Parts
    form : Form
        What the program does with them.
    place : int
        Which one it is among all readings of such a state.
    """

    parts: Parts
    form: Form
    place: int


def find(
    parameters: Mapping[str, Tensor],
    config: Config,
    tokens: Tensor,
    logits: Tensor,
    buffers: Mapping[str, Tensor] | None = None,
    most: int | None = None,
) -> Found:
    """Which reading of a program's weights gives its logits.

    Parameters
    ----------
    parameters : mapping of str to Tensor
        By the program's own names; a tied weight once.
    config : Config
        The sizes that it was made with.
    tokens : (B, T) int64
    logits : (B, T, V) float
        What it gives for them, in evaluation mode.
    buffers : mapping of str to Tensor, optional
        What it keeps beside them; a table of positions may be among it.
    most : int, optional
        How many readings are tried, likely ones first; all by default.

    Returns
    -------
    Found
        Its form is one of `ACCEPTED`, or another one that explains the logits as well.

    Raises
    ------
    CheckpointError
        Names the tensors that have no place, or says that other logits follow from them.
    """
    readings = list(itertools.islice(_readings(parameters, buffers or {}, config), most))
    for place, parts in enumerate(readings):
        for form in ACCEPTED:
            if _explains(parts, form, tokens, logits):
                return Found(parts, form, place)
    for place, parts in enumerate(readings[:_READINGS_FOR_A_MESSAGE]):
        for form in _OTHER_FORMS:
            if _explains(parts, form, tokens, logits):
                return Found(parts, form, place)
    raise CheckpointError(
        "each tensor has a place in the GPT of chapter 08, but in no order of them does that GPT "
        "give this program's logits. Does it compute something that has no weights, such as "
        "rotations, or positions by a formula?"
    )


def gpt_of(model: nn.Module, config: Config) -> GPT:
    """The course's GPT with the weights of a program of the reader's, for figures and pages.

    Parameters
    ----------
    model : Module
        Called with tokens (B, T); gives logits (B, T, V), alone or with a loss. It stays as it is.
    config : Config
        The sizes that it was made with.

    Returns
    -------
    GPT
        In evaluation mode, with copies of the weights; with a GELU or an output bias if the
        program has one.

    Raises
    ------
    CheckpointError
        Names what has no place in the GPT of chapter 08. Nothing is made then.
    """
    found = find(*_telling_state_of(model, config))
    if found.form not in ACCEPTED:
        raise CheckpointError(f"this program has {_differs(found.form)}, which has no place in it")
    parameters, _, tokens, logits, buffers = _state_of(model, config)
    parts = next(itertools.islice(_readings(parameters, buffers, config), found.place, None))
    if not _explains(parts, found.form, tokens, logits):
        raise CheckpointError(
            "with other weights this program is the GPT of chapter 08, and with its own it is not. "
            "Does it compute with something that isn't among its parameters?"
        )
    return _filled(replace(found, parts=parts), config)


def _telling_state_of(
    model: nn.Module, config: Config
) -> tuple[dict[str, Tensor], Config, Tensor, Tensor, dict[str, Tensor]]:
    """What `find` is asked with, of the model with other weights; it has its own again then.

    A copy of the model would need no care, but what a program keeps in it may not be copied.
    """
    kept = [one.detach().clone() for one in model.parameters()]
    try:
        return _state_of(with_drawn_weights(model, seed=0), config)
    finally:
        with torch.no_grad():
            for one, before in zip(model.parameters(), kept, strict=True):
                one.copy_(before)


def with_drawn_weights(model: nn.Module, seed: int) -> nn.Module:
    """The model with all weights drawn anew: matrices from scratch, vectors near what they were.

    With weights that have hardly been trained, many programs compute the same: scores are near 0
    and rotations of them too.

    Parameters
    ----------
    model : Module
        It is changed.
    seed : int

    Returns
    -------
    Module
        The same one.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for one in model.parameters():
            noise = torch.randn(tuple(one.shape), generator=generator).to(one.device)
            if one.ndim >= 2:
                one.copy_(noise * float(one.numel()) ** -0.25)
            else:
                one.copy_(one + 0.2 * noise)
    return model


def _state_of(
    model: nn.Module, config: Config
) -> tuple[dict[str, Tensor], Config, Tensor, Tensor, dict[str, Tensor]]:
    """What `find` is asked with."""
    V, T = config.vocab_size, min(config.block_size, 12)
    tokens = (torch.arange(2 * T) * 7 % V).view(2, T)
    with evaluation_mode(model), torch.no_grad():
        device = next(iter(model.parameters())).device
        logits = logits_in(model(tokens.to(device), tokens.to(device)), 2, T, V).cpu().float()
    parameters = {
        name: one.detach().clone().cpu().float() for name, one in model.named_parameters()
    }
    buffers = {name: one.detach().cpu() for name, one in model.named_buffers()}
    return parameters, config, tokens, logits, buffers


def logits_in(result: Any, B: int, T: int, V: int) -> Tensor:
    """The logits (B, T, V) among what a model returned: alone or with a loss, in either order, and
    (B·T, V) if it flattened them.

    Raises
    ------
    CheckpointError
        If there are none; says what there is.
    """
    given = list(result) if isinstance(result, tuple | list) else [result]
    for one in given:
        if isinstance(one, Tensor) and one.ndim in (2, 3) and one.numel() == B * T * V:
            return one.reshape(B, T, V)
    shapes = ", ".join(
        str(tuple(one.shape)) if isinstance(one, Tensor) else type(one).__name__ for one in given
    )
    raise CheckpointError(f"for tokens ({B}, {T}), the model gave {shapes}; expected ({B}, {T}, V)")


def _explains(parts: Parts, form: Form, tokens: Tensor, logits: Tensor) -> bool:
    return all(  # most readings are refused by the first text
        torch.allclose(parts.logits(text, form), right, rtol=_SAME, atol=_SAME)
        for text, right in zip(tokens.split(1), logits.split(1), strict=True)
    )


def _differs(form: Form) -> str:
    usual = Form()
    words = {
        "after": "norms after each addition instead of before each branch",
        "last_norm": "no norm before the output",
        "norm": "RMS norms",
        "activation": f"the activation {form.activation}",
        "scale": f"scores divided by {form.scale} instead of √D",
        "over": "a softmax over queries",
    }
    told = [said for name, said in words.items() if getattr(form, name) != getattr(usual, name)]
    if form.activation in ("gelu", "gelu-tanh"):
        told.remove(words["activation"])
    return " and ".join(told)


# --- Readings ---------------------------------------------------------------------------------


def _readings(
    parameters: Mapping[str, Tensor], buffers: Mapping[str, Tensor], config: Config
) -> Iterator[Parts]:
    """All ways to read a state, likely ones first.

    Raises
    ------
    CheckpointError
        Names tensors that have no place in any.
    """
    of_blocks, outside = split_blocks(parameters, config.n_layer)
    ends = list(_ends(outside, buffers, config))
    orders = _block_readings(of_blocks[0], config)
    for read in orders:
        blocks = tuple(read(block) for block in of_blocks)
        for end in ends:
            yield Parts(*end, blocks, config.n_head)


def split_blocks(
    parameters: Mapping[str, Tensor], n_layer: int
) -> tuple[list[dict[str, Tensor]], dict[str, Tensor]]:
    """The tensors of each block by what is left of their names, and those outside of blocks.

    Raises
    ------
    CheckpointError
        If no number in the names counts to n_layer.
    """
    counted: dict[tuple[str, str], dict[int, str]] = {}
    for name in parameters:
        first = re.match(r"(.*?)(\d+)(.*)", name)
        if first is not None:
            counted.setdefault((first[1], first[3]), {})[int(first[2])] = name
    blocks: list[dict[str, Tensor]] = [{} for _ in range(n_layer)]
    outside = dict(parameters)
    for (before, after), named in counted.items():
        if sorted(named) == list(range(n_layer)):
            for number, name in named.items():
                blocks[number][f"{before}{{}}{after}"] = outside.pop(name)
    if not blocks[0]:
        raise CheckpointError(
            f"no tensors are numbered from 0 to {n_layer - 1}, as those of {n_layer} blocks in an "
            f"nn.ModuleList are: {_listed(parameters)}"
        )
    return blocks, outside


def _ends(
    outside: Mapping[str, Tensor], buffers: Mapping[str, Tensor], config: Config
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor, tuple[Tensor, Tensor]]]:
    """Tokens, positions, output, output bias and last norm: all readings of what is outside."""
    V, T, C = config.vocab_size, config.block_size, config.n_embd
    vectors = {name: one for name, one in outside.items() if one.ndim == 1}
    tables = {name: one.squeeze() for name, one in outside.items() if name not in vectors}
    norm = _norms(vectors, C)
    biases = [one for name, one in vectors.items() if name not in norm.names and len(one) == V]
    if len(norm.pairs) > 1 or len(biases) > 1:
        raise CheckpointError(f"outside of the blocks are several norms: {_listed(vectors)}")
    bias = biases[0] if biases else torch.zeros(V)
    kept = {
        name: one.squeeze().float()
        for name, one in buffers.items()
        if tuple(one.squeeze().shape) == (T, C)
    }
    strange = [
        name
        for name, one in tables.items()
        if tuple(one.shape) not in {(V, C), (C, V), (T, C), (C, T)}
    ]
    strange += [n for n, one in vectors.items() if n not in norm.names and len(one) != V]
    if strange:
        raise _no_place({name: outside[name] for name in strange})

    def of(shape: tuple[int, int], held: Mapping[str, Tensor]) -> list[tuple[str, Tensor]]:
        straight = [(name, one) for name, one in held.items() if tuple(one.shape) == shape]
        turned = [(name, one.mT) for name, one in held.items() if tuple(one.shape) == shape[::-1]]
        return straight + turned

    nowhere = [("", torch.zeros(T, C))]
    for name, tokens in of((V, C), tables):
        for place, positions in of((T, C), {**tables, **kept}) or nowhere:
            if place == name:
                continue
            rest = set(tables) - {name, place}
            for last, output in of((V, C), tables):
                if rest == {last} or (not rest and last == name):
                    yield tokens, positions, output, bias, (norm.pairs or [_plain(C)])[0]


@dataclass(frozen=True)
class _Norms:
    pairs: list[tuple[Tensor, Tensor]]
    names: set[str]


def _norms(vectors: Mapping[str, Tensor], C: int) -> _Norms:
    """Vectors that are a norm's: a weight, with the bias of the same layer if it has one."""
    pairs, names = [], set()
    for name, one in vectors.items():
        stem, _, kind = name.rpartition(".")
        if len(one) == C and kind != "bias":
            other = f"{stem}.bias" if kind == "weight" else ""
            pairs.append((one, vectors[other] if other in vectors else torch.zeros(C)))
            names |= {name, other} & set(vectors)
    return _Norms(pairs, names)


def _plain(C: int) -> tuple[Tensor, Tensor]:
    return torch.ones(C), torch.zeros(C)


class _Reading:
    """One way to take a block's tensors apart; the same for all blocks."""

    def __init__(self, config: Config, names: dict[str, Any]):
        self._config, self._names = config, names

    def __call__(self, block: Mapping[str, Tensor]) -> BlockParts:
        C, H = self._config.n_embd, self._config.n_head
        block = _stacked(block, H)
        names = self._names
        weights: dict[str, Tensor] = {}
        biases: dict[str, Tensor] = {}
        for name, roles, order in names["attention"]:
            held = _in_order(block[name], order, len(roles), C, H)
            bias = block.get(_bias_of(name))
            if roles == ("projection",):
                weights["projection"] = held[0].mT
                biases["projection"] = torch.zeros(C) if bias is None else bias.flatten()
                continue
            places = order.replace("c", "")
            split = None if bias is None else _in_order(bias, places, len(roles), C, H)
            for number, role in enumerate(roles):
                weights[role] = held[number]
                biases[role] = torch.zeros(C) if split is None else split[number].flatten()
        wide, narrow, turned = names["forward"]
        widen = block[wide].mT if turned else block[wide]
        shrink = block[narrow].mT if turned else block[narrow]
        no_bias = torch.zeros(len(widen))
        norms = [
            (block[one], block.get(_bias_of(one), torch.zeros(C))) if one else _plain(C)
            for one in names["norms"]
        ]
        return BlockParts(
            **weights,
            biases=(biases["query"], biases["key"], biases["value"], biases["projection"]),
            widen=widen,
            narrow=shrink,
            widen_bias=block.get(_bias_of(wide), no_bias),
            narrow_bias=block.get(_bias_of(narrow), torch.zeros(C)),
            norms=(norms[0], norms[1]),
        )


def _bias_of(name: str) -> str:
    stem, _, kind = name.rpartition(".")
    return f"{stem}.bias" if kind == "weight" else ""


def _stacked(block: Mapping[str, Tensor], H: int) -> dict[str, Tensor]:
    """The block with the tensors of separate heads stacked: H × (D, C) → (H, D, C)."""
    counted: dict[tuple[str, str], dict[int, str]] = {}
    for name in block:
        for one in re.finditer(r"(?<![A-Za-z0-9{])(\d+)(?![A-Za-z0-9}])", name):
            counted.setdefault((name[: one.start()], name[one.end() :]), {})[int(one[1])] = name
    made = dict(block)
    for (before, after), named in counted.items():
        alike = {tuple(block[name].shape) for name in named.values()}
        whole = sorted(named) == list(range(H)) and H > 1 and len(alike) == 1
        if whole and all(name in made for name in named.values()):
            made[f"{before}*{after}"] = torch.stack([made.pop(named[h]) for h in range(H)])
    return made


def _block_readings(block: Mapping[str, Tensor], config: Config) -> list[_Reading]:
    """All ways to read a block, likely ones first."""
    C, H = config.n_embd, config.n_head
    held = _stacked(block, H)
    matrices = {n: one for n, one in held.items() if one.ndim >= 2 and not n.endswith(".bias")}
    vectors = {n: one for n, one in held.items() if one.ndim == 1}
    biases = {_bias_of(name) for name in matrices}
    norms = _norms({n: one for n, one in vectors.items() if n not in biases}, C)
    known = norms.names | biases | set(matrices)
    strange = {n: one for n, one in held.items() if n not in known}
    weights = [n for n in norms.names if not n.endswith(".bias")]
    weights = [n for n in vectors if n in weights]  # in the program's order
    if strange or len(weights) not in (0, 2):
        raise _no_place(strange or {n: vectors[n] for n in weights})
    found: list[tuple[int, _Reading]] = []
    for wide, narrow, turned in _forwards(matrices, C):
        rest = {n: one for n, one in matrices.items() if n not in (wide, narrow)}
        for attention in _attentions(rest, C, H):
            for order in itertools.permutations(weights) if weights else [("", "")]:
                names = {"attention": attention, "forward": (wide, narrow, turned), "norms": order}
                unlikely = _unlikely(attention) + (order != tuple(weights)) + 2 * turned
                found.append((unlikely, _Reading(config, names)))
    if not found:
        raise _no_place(_too_many(matrices, C))
    return [reading for _, reading in sorted(found, key=lambda pair: pair[0])]


def _linear(name: str) -> bool:
    """Whether a tensor is called as an nn.Linear calls it, which stores outputs × inputs."""
    return name.rpartition(".")[2] == "weight"


def _forwards(matrices: Mapping[str, Tensor], C: int) -> Iterator[tuple[str, str, bool]]:
    """Which two matrices widen and narrow, and whether they stand turned (inputs × outputs)."""
    flat = {name: tuple(one.shape) for name, one in matrices.items() if one.ndim == 2}
    for one, other in itertools.permutations(flat, 2):
        a, b = flat[one], flat[other]
        if a[::-1] == b and a[1] == C and a[0] > C:
            yield one, other, False
            if not (_linear(one) or _linear(other)):
                yield other, one, True


def _attentions(
    matrices: Mapping[str, Tensor], C: int, H: int
) -> Iterator[list[tuple[str, tuple[str, ...], str]]]:
    """Which tensors are queries, keys, values and the projection: name, roles and axes of each."""
    shares = {name: one.numel() / C**2 for name, one in matrices.items()}
    mixes = ("query", "key", "value")

    def orders(name: str, parts: int, *, out: bool = False) -> list[str]:
        """How the axes of a tensor may be read; `out` of a projection, whose channels come out."""
        one = matrices[name]
        found = _orders(tuple(one.shape), parts, C, H)
        if parts == 1 and one.ndim == 2:
            found = [order for order in found if "hd" in order]
            if _linear(name):
                found = [order for order in found if order.startswith("c") is out]
        return found

    for name in matrices:
        if shares[name] != 1:
            continue
        rest = [one for one in matrices if one != name]
        for last in orders(name, 1, out=True):
            projection = (name, ("projection",), last)
            if len(rest) == 1 and shares[rest[0]] == 3:
                for order in orders(rest[0], 3):
                    for roles in itertools.permutations(mixes):
                        yield [(rest[0], roles, order), projection]
            if len(rest) == 2 and sorted(shares[one] for one in rest) == [1, 2]:
                one, two = sorted(rest, key=lambda n: shares[n])
                for order, pair in itertools.product(orders(one, 1), orders(two, 2)):
                    for roles in itertools.permutations(mixes):
                        yield [(one, roles[:1], order), (two, roles[1:], pair), projection]
            alike = {tuple(matrices[one].shape) for one in rest}
            if len(rest) == 3 and len(alike) == 1 and all(shares[one] == 1 for one in rest):
                for order in orders(rest[0], 1):
                    for names in itertools.permutations(rest):
                        mixed = zip(names, mixes, strict=True)
                        yield [*((n, (role,), order) for n, role in mixed), projection]


def _orders(shape: tuple[int, ...], parts: int, C: int, H: int) -> list[str]:
    """All ways in which axes can be made of parts (p), heads (h), head channels (d) and channels
    (c), such as "phd c" of (3C, C).
    """
    sizes = {"p": parts, "h": H, "d": C // H, "c": C}
    letters = "phdc" if parts > 1 else "hdc"
    found = []
    for order in itertools.permutations(letters):
        for cuts in itertools.combinations(range(1, len(letters)), len(shape) - 1):
            groups = ["".join(order[a:b]) for a, b in itertools.pairwise((0, *cuts, len(letters)))]
            if tuple(math.prod(sizes[one] for one in group) for group in groups) == shape:
                found.append("".join(groups))
    usual = ("phdc", "hdc", "chd", "cphd")
    return sorted(dict.fromkeys(found), key=lambda one: one not in usual)


def _in_order(tensor: Tensor, order: str, parts: int, C: int, H: int) -> Tensor:
    """A tensor with axes as `_orders` reads them, as (parts, H·D, C), or (parts, H·D) of a bias."""
    sizes = {"p": parts, "h": H, "d": C // H, "c": C}
    letters = [one for one in order if one != "p" or parts > 1]
    apart = tensor.reshape([sizes[one] for one in letters])
    wanted = [letters.index(one) for one in "phdc" if one in letters]
    return apart.permute(wanted).reshape(parts, C, *([C] if "c" in letters else []))


_HINTS = {"query": r"q", "key": r"k", "value": r"v", "projection": r"o|proj"}


def _unlikely(attention: list[tuple[str, tuple[str, ...], str]]) -> int:
    """How many roles a name speaks against; fused ones come in the order that all have."""
    wrong = 0
    for name, roles, order in attention:
        if len(roles) == 1:
            own = ".".join(name.split(".")[-2:])
            wrong += re.search(_HINTS[roles[0]], own) is None
        else:
            wrong += list(roles) != sorted(roles, key=("query", "key", "value").index)
        wrong += order not in ("phdc", "hdc", "chd")
    return wrong


def _too_many(matrices: Mapping[str, Tensor], C: int) -> dict[str, Tensor]:
    """The matrices that are most likely to have no place: a gate, or all if nothing is known."""
    wide = {name: one for name, one in matrices.items() if one.numel() > C * C and one.ndim == 2}
    shapes = [tuple(sorted(one.shape)) for one in wide.values()]
    if len(wide) == 3 and len(set(shapes)) == 1:  # three of one shape: one of them is a gate
        return wide
    return dict(matrices)


def _no_place(tensors: Mapping[str, Tensor]) -> CheckpointError:
    gate = len(tensors) == 3 and len({one.numel() for one in tensors.values()}) == 1
    why = ": one of the three is a gate" if gate else ""
    return CheckpointError(
        f"{_listed(tensors)} {'has' if len(tensors) == 1 else 'have'} no place in the GPT of "
        f"chapter 08{why}"
    )


def _listed(tensors: Mapping[str, Tensor]) -> str:
    shown = [f"{name} {tuple(one.shape)}" for name, one in list(tensors.items())[:6]]
    return ", ".join(shown) + (" …" if len(tensors) > 6 else "")


# --- The course's GPT -------------------------------------------------------------------------


def _filled(found: Found, config: Config) -> GPT:
    parts, C = found.parts, config.n_embd
    for number, block in enumerate(parts.blocks):
        if len(block.widen) > 4 * C:
            raise CheckpointError(
                f"the feed-forward layers of block {number} have {len(block.widen)} channels, and "
                f"there is room for 4 · {C}"
            )
        if block.biases[0].abs().max() > 0:
            raise CheckpointError(
                f"the queries of block {number} have biases up to "
                f"{float(block.biases[0].abs().max()):.2g}, which have no place in the GPT of "
                "chapter 08; with bias=False they are not missed"
            )
    tied = torch.equal(parts.tokens, parts.output)
    model = GPT(replace(config, tied=tied, dropout=0.0))
    ours: dict[str, Tensor] = {
        "embedding.tokens.weight": parts.tokens,
        "embedding.positions.weight": parts.positions,
        "norm.weight": parts.norm[0],
        "norm.bias": parts.norm[1],
        "output.weight": parts.output,
    }
    if parts.output_bias.abs().max() > 0:
        model.output = nn.Linear(C, config.vocab_size)
        ours["output.bias"] = parts.output_bias
    for number, block in enumerate(parts.blocks):
        prefix, wide = f"blocks.{number}.", len(block.widen)
        ours |= {
            f"{prefix}attention.projection.weight": block.projection,
            # Weights sum to 1, so a value's bias reaches the projection as it is.
            f"{prefix}attention.projection.bias": (
                block.biases[3] + block.projection @ block.biases[2]
            ),
            f"{prefix}feed_forward.layers.0.weight": F.pad(block.widen, (0, 0, 0, 4 * C - wide)),
            f"{prefix}feed_forward.layers.0.bias": F.pad(block.widen_bias, (0, 4 * C - wide)),
            f"{prefix}feed_forward.layers.2.weight": F.pad(block.narrow, (0, 4 * C - wide)),
            f"{prefix}feed_forward.layers.2.bias": block.narrow_bias,
        }
        for name, pair in zip(("attention", "feed_forward"), block.norms, strict=True):
            ours |= {f"{prefix}{name}_norm.weight": pair[0], f"{prefix}{name}_norm.bias": pair[1]}
        for role in ("query", "key", "value"):
            rows = getattr(block, role).split(config.head_size)
            ours |= {
                f"{prefix}attention.heads.{head}.{role}.weight": one
                for head, one in enumerate(rows)
            }
    model.load_state_dict(ours)
    return (with_gelu(model) if found.form.activation != "relu" else model).eval()
