"""What 11/which-head asks."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from torch import Tensor

from course_tasks.answers import Array
from course_tasks.ch11_looking_inside.shared import (
    CALLS,
    HEADS,
    LAYERS,
    Runner,
    Watched,
    random_model,
)
from course_tasks.errors import ReturnedTypeError
from course_tasks.inputs import Rng, entries_of, tensor, whole
from course_tasks.probing import Inputs, Probe

MODELS = ("first", "second", "third")

KEYS = ("prediction", "damage", "head", "looks")

_ALIKE = 1e-6

HYPHEN, START, CAPITALS, SMALL = 0, 1, 3, 5
"""Token 0 is the hyphen, token 1 the start; then come 3 capitals and 5 small letters."""

V = 2 + CAPITALS + SMALL
_CAPITAL = np.arange(2, 2 + CAPITALS)
_SMALL = np.arange(2 + CAPITALS, V)


def _texts(rng: Rng, n: int, T: int) -> tuple[Array, Array]:
    """n texts, each with one capital that is needed again after the hyphen; and where it is."""
    texts = rng.choice(_SMALL, size=(n, T))
    texts[:, 0], texts[:, -1] = START, HYPHEN
    sources = rng.integers(1, T - 1, size=n)
    # Each capital as often as the others; one that the carrier sees comes first.
    texts[np.arange(n), sources] = np.resize(np.roll(_CAPITAL, -1), n)
    return texts.astype(np.int64), sources.astype(np.int64)


def _model(rng: Rng, prefix: str, T: int, carrier: int) -> dict[str, Array]:
    """Weights by hand: head number `carrier` carries the link, others look there or write always
    the same.
    """
    C, D = V + V, V  # channels for the token, and for what is said of the next one
    here, told = slice(0, V), slice(V, C)
    heads = []
    to_capital, carried, to_start = (np.zeros((V, V)) for _ in range(3))
    to_capital[HYPHEN, _CAPITAL] = 1
    # The carrier hardly sees one capital, so its largest weight is not always at the source.
    carried[HYPHEN, _CAPITAL] = [-0.1, *np.ones(CAPITALS - 1)]
    to_start[:, START] = 1
    copied, same = np.zeros((V, V)), np.zeros((V, V))
    # Not so loud that its mean, put where it is not asked, costs more than the link, if a loss is
    # taken over all positions.
    copied[_CAPITAL, _CAPITAL] = rng.uniform(3, 4)
    same[_CAPITAL, START] = rng.uniform(4, 5)
    small = np.zeros((V, V))
    drawn = rng.normal(size=(SMALL, SMALL)) * 6
    # Of all small letters together it says nothing, so that its mean hardly matters at the links.
    small[np.ix_(_SMALL, _SMALL)] = drawn - drawn.mean(axis=1, keepdims=True)
    faint = rng.normal(size=(2, V, V)) * 0.1
    for scores, strength, written in (
        (carried, rng.uniform(4, 5), copied),  # carries the link
        (to_capital, rng.uniform(9, 10), faint[0] * 0.2),  # looks there more sharply, says little
        (to_start, 9.0, same),  # says "a capital" whatever it reads
        (np.eye(V), 4.0, small),  # matters between small letters only
        (to_start, 9.0, faint[1] - same),  # takes that back, so that neither is seen in the loss
        (rng.normal(size=(V, V)), 1.0, rng.normal(size=(V, V)) * 0.1),
    ):
        query, key, value, output = (np.zeros(s) for s in ((D, C), (D, C), (D, C), (C, D)))
        query[:, here] = scores.T * strength * np.sqrt(D)  # the query of a token: what it looks for
        key[:, here] = value[:, here] = np.eye(V)
        output[told] = written
        heads.append((query, key, value, output))
    others = [int(i) for i in 1 + rng.permutation(len(heads) - 1)]
    layer, head = divmod(carrier, HEADS)
    if head < LAYERS:  # there is a head (head, layer) as well: one that tells us nothing
        swapped = head * HEADS + layer
        place = swapped - (swapped > carrier)
        at = others.index(3)
        others[place], others[at] = others[at], others[place]
    order = [*others[:carrier], 0, *others[carrier:]]
    stacked: dict[str, Array] = {
        f"{prefix}.{name}": np.stack([heads[i][part] for i in order])
        .reshape(LAYERS, HEADS, *heads[0][part].shape)
        .astype(np.float32)
        for part, name in enumerate(("query", "key", "value", "output"))
    }
    tokens, unembedding = np.zeros((V, C)), np.zeros((V, C))
    tokens[:, here] = unembedding[:, told] = np.eye(V)
    stacked[f"{prefix}.tokens"] = tokens.astype(np.float32)
    stacked[f"{prefix}.positions"] = np.zeros((T, C), dtype=np.float32)
    stacked[f"{prefix}.unembedding"] = unembedding.astype(np.float32)
    return stacked


def _reading_between(rng: Rng, T: int) -> dict[str, Array]:
    """A drawn model, whose layer 1 reads at all positions what layer 0 wrote there. In the models
    by hand, no head reads what another one wrote, so they don't show at which positions a head is
    replaced.
    """
    drawn = random_model(rng, V, T, C=12, D=4)
    return {f"third.{name.removeprefix('model.')}": array for name, array in drawn.items()}


def _inputs(rng: Rng) -> Inputs:
    return _of(rng, int(rng.integers(9, 12)), int(rng.integers(20, 25)))


def _one_text(rng: Rng) -> Inputs:
    """One text, with nothing between its start, its capital and its hyphen."""
    return _of(rng, 3, 1)


def _of(rng: Rng, T: int, n: int) -> Inputs:
    texts, sources = _texts(rng, n, T)
    targets = np.concatenate([texts[:, 1:], texts[np.arange(n), sources][:, None]], axis=1)
    # In one model the head is in layer 0, in the other in layer 1, and its number is another.
    return {
        **_model(rng, "first", T, carrier=int(rng.choice([1, 2]))),
        **_model(rng, "second", T, carrier=HEADS + int(rng.choice([0, 2]))),
        **_reading_between(rng, T),
        "texts": texts,
        "targets": targets,
        "sources": sources,
        "reference": _texts(rng, 30, T)[0],
        "T": whole(T),
        "N": whole(n),
    }


def _left(handed: Tensor, own: Tensor) -> Tensor:
    """(L, H): at which share of the places (L, H, P, D) each head was given what it found anyway; 0
    if it was given more than one vector at the others.
    """
    left = ((handed - own).abs() < _ALIKE).all(-1)  # (L, H, P)
    first = (~left).int().argmax(-1)[..., None, None].expand(*left.shape[:2], 1, own.shape[-1])
    one_vector = (left | (handed == handed.gather(2, first)).all(-1)).all(-1)
    return left.float().mean(-1) * one_vector


def _experiment(model: str, answer: Any, given: Inputs) -> Any:
    run = Watched(given, model)
    names = ("texts", "targets", "sources", "reference")
    result = entries_of(answer(run, *(tensor(given[name]) for name in names)), KEYS)
    seen = run.seen(tensor(given["texts"]))
    handed = run.handed(tensor(given["texts"])).flatten(2, 3)  # (L, H, N · T, D)
    # One vector for each head, if it is the same in all texts and at all positions.
    own = Runner(given, model)(tensor(given["texts"])).found  # (L, N, H, T, D)
    own = own.transpose(1, 2).flatten(2, 3)
    seen["left"] = _left(handed, own)
    seen["handed"], seen["steady"] = handed[:, :, 0], (handed == handed[:, :, :1]).all(dim=(2, 3))
    if model == "third":
        return {"damage": result["damage"], **seen}
    try:
        layer, head = result["head"]  # as they are: a layer of 1.33 is not layer 1
    except (TypeError, ValueError) as error:
        raise ReturnedTypeError(
            f"returned {result['head']!r:.40} as `head`; it should be the pair (layer, head)"
        ) from error
    return {
        "damage": result["damage"],
        "head": [float(layer), float(head)],
        "looks": result["looks"],
        "prediction": str(result["prediction"]),
        **seen,
    }


SEEN = (*CALLS, "steady", "left")
"""What a judge gets to see of the calls of a model, beside what an answer returns."""

PROBE = Probe(
    _inputs,
    {name: functools.partial(_experiment, name) for name in MODELS},
    second=_one_text,
)
