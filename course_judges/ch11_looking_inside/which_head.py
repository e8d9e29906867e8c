"""Judges 11/which-head: an experiment that finds the head on which a link depends."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch11_looking_inside.replacing import measured, put
from course_judges.ch11_looking_inside.sections import ABLATE, PLAY
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.quoting import farthest
from course_judges.wording import number, unwrapped
from course_tasks.ch11_looking_inside.shared import LAYERS, Pass, Runner
from course_tasks.ch11_looking_inside.which_head import MODELS, SEEN
from course_tasks.verdict import Finding

Result = dict[str, Any]


def _looks(whole: Pass, sources: Tensor) -> Tensor:
    """(L, H) the mean weight from the last position of each text to its source."""
    rows = torch.arange(len(sources))
    return whole.weights[:, rows, :, -1, sources].mean(0)  # (N, L, H) → (L, H)


def _loss_at_links(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits[:, -1], targets[:, -1])


def _loss_everywhere(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _mean(reference: Pass, layer: int, head: int) -> Tensor:
    return reference.found[layer, :, head].mean(dim=(0, 1))


@dataclass(frozen=True)
class _Asked:
    """A model and texts that it reads. Two are equal if the same weights read the same texts, so
    that the many answers that a check tries share what was computed.
    """

    weights: bytes
    tokens: bytes
    shape: tuple[int, ...]
    run: Runner = field(compare=False)
    texts: Tensor = field(compare=False)

    @classmethod
    def of(cls, run: Runner, texts: Tensor) -> _Asked:
        return cls(run.digest(), texts.numpy().tobytes(), tuple(texts.shape), run, texts)


@functools.lru_cache(maxsize=32)
def _passed(asked: _Asked) -> Pass:
    """Cached, so don't write into it."""
    return asked.run(asked.texts)


@functools.lru_cache(maxsize=32)
def _damage(
    asked: _Asked,
    other: _Asked,
    targets: tuple[tuple[int, ...], ...],
    loss: Callable[[Tensor, Tensor], Tensor],
    replacement: Callable[[Pass, int, int], Tensor],
) -> Tensor:
    """(L, H) by how much the loss rises without each head."""
    whole, reference, right = _passed(asked), _passed(other), torch.tensor(targets)
    L, B, H = whole.found.shape[:3]
    unbroken = loss(whole.logits, right)
    damage = torch.zeros(L, H)
    for layer in range(L):
        # One pass with H copies of the texts, each of which lacks a different head of the layer.
        found = whole.found[layer].repeat(H, 1, 1, 1)  # (B, H, T, D) → (H·B, H, T, D)
        for head in range(H):
            found[head * B : (head + 1) * B, head] = replacement(reference, layer, head)
        replaced = {(layer, head): found[:, head] for head in range(H)}
        broken = asked.run(asked.texts.repeat(H, 1), replaced).logits  # (H·B, T, V)
        for head, logits in enumerate(broken.chunk(H)):
            damage[layer, head] = loss(logits, right) - unbroken
    return damage


def _by(
    loss: Callable[[Tensor, Tensor], Tensor] = _loss_at_links,
    replacement: Callable[[Pass, int, int], Tensor] = _mean,
    choose: Callable[[Tensor, Tensor], Tensor] = lambda damage, looks: damage.argmax(),  # noqa: ARG005
    unravel: Callable[[int, int], tuple[int, int]] = lambda i, H: (i // H, i % H),
    looking: Callable[[Pass, Tensor], Tensor] = _looks,
) -> Callable[..., Result]:
    """The experiment, with what can go wrong in it as settings."""

    def answer(
        run: Runner, texts: Tensor, targets: Tensor, sources: Tensor, reference: Tensor
    ) -> Result:
        asked, other = _Asked.of(run, texts), _Asked.of(run, reference)
        whole = _passed(asked)
        L, _, H = whole.found.shape[:3]
        rows = tuple(map(tuple, targets.tolist()))
        damage = _damage(asked, other, rows, loss, replacement).clone()
        looks = looking(whole, sources)
        layer, head = unravel(int(choose(damage, looks)), H)
        return {
            "prediction": "the head that looks there most",
            "damage": damage,
            "head": (layer, head),
            "looks": looks[layer % L, head % H],
        }

    return answer


which_head = _by()


def _same_head(evidence: Evidence, model: str) -> bool:
    name = f"{model}.head"
    return bool(np.array_equal(evidence.shaped(name, (2,)), evidence.right(name)))


def _named(evidence: Evidence) -> str:
    model = "second" if _same_head(evidence, "first") else "first"
    k, h = evidence.yours(f"{model}.head")
    right_k, right_h = (int(n) for n in evidence.right(f"{model}.head"))
    damage = evidence.right(f"{model}.damage")
    return unwrapped(f"""In the {model} model you name head {h:g} of layer {k:g}. But the loss at
    the links rises most without head {right_h} of layer {right_k}, by
    {number(damage[right_k, right_h])} nats.""")


def _off(evidence: Evidence, name: str) -> str:
    """The number of the first model's results of this name that is farthest from right."""
    said = farthest(evidence, f"first.{name}")
    return said and f"In `{name}` of the first model, {said[0].lower()}{said[1:]}"


def _numbers(evidence: Evidence) -> str:
    """The number in the first wrong table that is farthest from right."""
    for nth in MODELS:
        if said := farthest(evidence, f"{nth}.damage"):
            return f"In `damage` of the {nth} model, {said[0].lower()}{said[1:]}"
    return ""


_BREAK = tuple(f"{model}.damage" for model in MODELS)
_CHOICE = (*_BREAK, "first.head", "second.head")
_LOOKS = ("first.looks", "second.looks")

_looks_are_enough = mistake(
    "You chose the head that looks at the source most instead of the one that is missed most.",
    lambda e: f"{_named(e)} A head may look at the source without the model depending on it.",
    cases=_CHOICE,
)(_by(choose=lambda damage, looks: looks.argmax()))  # noqa: ARG005


_zero_for_mean = mistake(
    "You replaced heads with zeros instead of with their means over the reference.",
    lambda e: unwrapped(f"""Two heads of this model always write the same, no matter what they read,
    and zeros take that away from the layers after them. {_numbers(e)}"""),
    ABLATE,
    cases=_BREAK,
)(_by(replacement=lambda reference, layer, head: torch.zeros(())))  # noqa: ARG005

_loss_of_all_positions = mistake(
    "You measured the loss at all positions, but the link is at the last one of each text.",
    lambda e: unwrapped(f"""Then the loss at the link is only one of {e.number("T")} in the mean,
    and the other positions have nothing to do with it. {_numbers(e)}"""),
    cases=_BREAK,
)(_by(loss=_loss_everywhere))


@mistake(
    "Your `damage` is the loss without each head instead of how much the loss rises.",
    _numbers,
    ABLATE,
    cases=_BREAK,
)
def _loss_itself(
    run: Runner, texts: Tensor, targets: Tensor, sources: Tensor, reference: Tensor
) -> Result:
    made = which_head(run, texts, targets, sources, reference)
    return made | {"damage": made["damage"] + _loss_at_links(run(texts).logits, targets)}


_softmax_taken_twice = mistake(
    "You gave probabilities to `cross_entropy`, which takes a softmax itself and needs logits.",
    _numbers,
    ABLATE,
    cases=_BREAK,
)(_by(loss=lambda logits, targets: _loss_at_links(logits.softmax(-1), targets)))

_logarithm_of_the_mean = mistake(
    "You took the logarithm of the mean probability instead of the mean of the logarithms.",
    _numbers,
    cases=_BREAK,
)(
    _by(
        loss=lambda logits, targets: (
            -logits[:, -1].softmax(-1).gather(1, targets[:, -1:]).mean().log()
        )
    )
)

_mean_of_the_texts = mistake(
    "You took the mean over the texts that you test instead of over the reference.",
    lambda e: f"Then the mean still contains some of what you want to remove. {_numbers(e)}",
    ABLATE,
    cases=_BREAK,
)(lambda run, texts, targets, sources, reference: which_head(run, texts, targets, sources, texts))  # noqa: ARG005

_at_the_last_position = _by(
    replacement=lambda reference, layer, head: reference.found[layer, :, head, -1].mean(0)
)


def _put_at(places: slice) -> Callable[..., Result]:
    """The experiment in which a head finds its mean only at some positions."""

    def answer(
        run: Runner, texts: Tensor, targets: Tensor, sources: Tensor, reference: Tensor
    ) -> Result:
        made = which_head(run, texts, targets, sources, reference)
        whole, other = _passed(_Asked.of(run, texts)), _passed(_Asked.of(run, reference))
        damage = torch.zeros_like(made["damage"])
        for layer, head in np.ndindex(*damage.shape):
            found = whole.found[layer, :, head].clone()  # (B, T, D)
            found[:, places] = _mean(other, layer, head)
            broken = run(texts, {(layer, head): found}).logits
            damage[layer, head] = _loss_at_links(broken, targets)
        return made | {"damage": damage - _loss_at_links(whole.logits, targets)}

    return answer


_only_the_last_position = mistake(
    "You put the mean in at the last position only, but a head finds it at all positions.",
    lambda e: unwrapped(f"""As in task 5, it belongs at all positions. What a head of layer 0 writes
    at earlier ones may be read by layer 1. {_numbers(e)}"""),
    ABLATE,
    cases=_BREAK,
)(_put_at(slice(-1, None)))


_mean_at_the_last_position = mistake(
    "You took the mean only at the last position instead of over all positions.",
    lambda e: f"Take it over texts and positions, as in task 5. {_numbers(e)}",
    ABLATE,
    cases=_BREAK,
)(_at_the_last_position)

_counted_from_one = mistake(
    "You counted layers and heads from 1, but they are counted from 0.",
    _named,
    cases=_CHOICE,
)(_by(unravel=lambda i, H: (i // H + 1, i % H + 1)))


_divided_by_the_layers = mistake(
    "You divided the index in the flattened table by the number of layers instead of heads.",
    lambda e: unwrapped(f"""Each row of the table is a layer and has
    {e.right("first.damage").shape[1]} heads. {_named(e)}"""),
    cases=_CHOICE,
)(_by(unravel=lambda i, H: divmod(i, LAYERS)))  # noqa: ARG005

_divided_and_exchanged = mistake(
    "You divided the index in the flattened table by the number of layers and swapped the results.",
    lambda e: unwrapped(f"""Divide it by the number of heads in a layer, which is
    {e.right("first.damage").shape[1]}. The quotient is the layer, and the remainder is the head.
    {_named(e)}"""),
    cases=_CHOICE,
)(_by(unravel=lambda i, H: (i % LAYERS, i // LAYERS)))  # noqa: ARG005


_looked_where_the_first_has_it = mistake(
    "You read every text at the source of the first text, but each text has its own.",
    lambda e: _off(e, "looks"),
    cases=_LOOKS,
)(_by(looking=lambda whole, sources: whole.weights[:, :, :, -1, int(sources[0])].mean(1)))


def _larger_look(evidence: Evidence) -> str:
    mine, right = evidence.yours("first.looks"), evidence.right("first.looks")
    model = "second" if close(mine, right).all() else "first"
    layer, head = (int(n) for n in evidence.right(f"{model}.head"))
    return unwrapped(f"""In the {model} model, head {head} of layer {layer} is missed most, and its
    weight on the source is {number(float(evidence.right(f"{model}.looks")))}. You return
    {number(float(evidence.yours(f"{model}.looks")))}, which is the weight of another head.""")


@mistake(
    "Your `looks` is from the head that looks most instead of the head that is missed most.",
    _larger_look,
    cases=_LOOKS,
)
def _largest_look(
    run: Runner, texts: Tensor, targets: Tensor, sources: Tensor, reference: Tensor
) -> Result:
    made = which_head(run, texts, targets, sources, reference)
    return made | {"looks": _looks(run(texts), sources).max()}


_looked_backwards = mistake(
    "You read how much the source looks at the hyphen instead of the other way round.",
    lambda e: unwrapped(f"""Row t says where position t looks. The hyphen comes after the source, so
    it is masked there and your weights are 0. {_off(e, "looks")}"""),
    cases=_LOOKS,
)(
    _by(
        looking=lambda whole, sources: whole.weights[
            :, torch.arange(len(sources)), :, sources, -1
        ].mean(0)
    )
)


def _look(evidence: Evidence) -> str:
    return _off(evidence, "looks")


_all_sources_read = mistake(
    "You averaged every text over the sources of all texts, but each text has only its own.",
    lambda e: unwrapped(f"""`weights[..., sources]` takes {e.number("N")} columns of every text. If
    you index the texts with `torch.arange({e.number("N")})` beside `sources`, you get one number
    for each text. {_look(e)}"""),
    cases=_LOOKS,
)(_by(looking=lambda whole, sources: whole.weights[:, :, :, -1][..., sources].mean((1, 3))))

_largest_weight = mistake(
    "You took the largest weight of each hyphen instead of its weight on the source.",
    lambda e: f"The head doesn't always look at the source most. {_look(e)}",
    cases=_LOOKS,
)(_by(looking=lambda whole, _: whole.weights[:, :, :, -1].amax(-1).mean(1)))


def _as_the_calls_show(evidence: Evidence) -> Finding | None:
    """What was put in place of the heads, and if that is right, what was measured."""
    wrong = [model for model in MODELS if not evidence.same(f"{model}.damage")]
    if not wrong:
        return None
    model = wrong[0]
    run = Runner(evidence.inputs, model)
    texts, targets, reference = (
        torch.as_tensor(evidence.inputs[name]) for name in ("texts", "targets", "reference")
    )
    means = run(reference).found.mean(dim=(1, 3))  # (L, H, D)
    L, H = means.shape[:2]
    handed = evidence.shaped(f"{model}.handed", tuple(means.shape))
    steady = evidence.shaped(f"{model}.steady", (L, H))
    if not (steady | np.isnan(handed).any(-1)).all():
        left = evidence.shaped(f"{model}.left", (L, H))
        if 0 < left.min() and left.max() < 1:
            return Finding(
                "not-at-all-positions",
                "You put the mean in at some positions only, but a head finds it at all of them.",
                f"At up to {100 * left.max():.0f} % of the positions, a head still has what it "
                "finds anyway. What layer 0 writes there may be read by layer 1. "
                f"{_numbers(evidence)}",
                ABLATE,
            )
        return Finding(
            "not-one-vector",
            "What a head finds instead differs between texts or positions in your calls.",
            "The mean of a head is a single vector (D,), over all texts and positions of the "
            f"reference, as in task 5. {_numbers(evidence)}",
            ABLATE,
        )
    found = put(evidence, model, means.numpy(), "its mean over the reference", ABLATE, "texts")
    if found is not None or np.isnan(handed).any():
        return found

    def broken(layer: int, head: int) -> float:
        logits = run(texts, {(layer, head): means[layer, head]}).logits
        return float(_loss_at_links(logits, targets))

    whole = float(_loss_at_links(run(texts).logits, targets))
    return measured(evidence, f"{model}.damage", whole, broken, PLAY)


def _another_head(evidence: Evidence) -> Finding | None:
    """The right table, but not the head with its largest entry."""
    if not evidence.same(*_BREAK) or _right_heads(evidence):
        return None
    model = "second" if _same_head(evidence, "first") else "first"
    damage = evidence.right(f"{model}.damage")
    return Finding(
        "another-head",
        "Your table is right, but you don't name the head with its largest entry.",
        f"{_named(evidence)} In the flattened table, that is entry {int(damage.argmax())}, and "
        f"each layer has {damage.shape[1]} entries.",
        PLAY,
    )


def _other_looks(evidence: Evidence) -> Finding | None:
    """The right head, but not its mean weight from the hyphens to the sources."""
    if not evidence.same(*_BREAK) or not _right_heads(evidence) or evidence.same("first.looks"):
        return None
    layer, head = (int(n) for n in evidence.right("first.head"))
    right, mine = (float(side("first.looks")) for side in (evidence.right, evidence.yours))
    return Finding(
        "other-looks",
        "Your `looks` isn't the mean weight of your head from the hyphens to the sources.",
        f"In the first model, head {head} of layer {layer} gives the sources a weight of "
        f"{number(right)} on average, but you return {number(mine)}. Do you read the row of the "
        "hyphen, which is the last, and the column of the source, which differs from text to text?",
        PLAY,
    )


def _right_heads(evidence: Evidence) -> bool:
    return _same_head(evidence, "first") and _same_head(evidence, "second")


TASK = Task(
    "Which head carries the link?",
    which_head,
    PLAY,
    (
        Part("The loss at the links without each head.", 3, matches(*_BREAK)),
        Part("The head that is missed most.", 2, _right_heads),
        Part("How much it looks at the source.", 1, matches(*_LOOKS)),
    ),
    uncompared=("prediction", *SEEN),
    properties=(_as_the_calls_show, _another_head, _other_looks),
    cases=_BREAK,
)
