"""Judges 11/ablation: what each head is worth, measured by replacing it with its mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch11_looking_inside.replacing import measured, put
from course_judges.ch11_looking_inside.sections import ABLATE
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.quoting import farthest_index
from course_judges.wording import numbers_apart, unwrapped
from course_tasks.ch11_looking_inside.shared import CALLS, Pass, Runner
from course_tasks.verdict import Finding

Replacement = Callable[[Pass, Pass, int, int], Tensor]


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """() the mean cross-entropy in nats."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _mean(reference: Pass, _: Pass, layer: int, head: int) -> Tensor:
    """(D,) over the texts and positions of the reference."""
    return reference.found[layer, :, head].mean(dim=(0, 1))


def ablated(
    replacement: Replacement = _mean,
    *,
    compare: Callable[[Tensor, Tensor], Tensor] = torch.sub,
    loss: Callable[[Tensor, Tensor], Tensor] = loss_of,
) -> Callable[..., Tensor]:
    """An answer (L, H) that replaces what a head finds in this way."""

    def answer(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
        plain, other = run(tokens), run(reference)
        L, _, H = plain.found.shape[:3]
        whole = loss(plain.logits, targets)
        increase = torch.zeros(L, H)
        for layer in range(L):
            for head in range(H):
                broken = run(tokens, {(layer, head): replacement(other, plain, layer, head)})
                increase[layer, head] = compare(loss(broken.logits, targets), whole)
        return increase

    return answer


def mean_ablation(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    """A right answer to 11/ablation: the increase for each head (L, H)."""
    found = run(reference).found  # what the heads find in the reference (L, N, H, T, D)
    means = found.mean(dim=(1, 3))  # the means of the heads (L, H, D)
    plain = run(tokens).logits
    whole = loss_of(plain, targets)
    increase = torch.zeros(means.shape[:2])
    for layer, head in np.ndindex(*increase.shape):
        logits = run(tokens, {(layer, head): means[layer, head]}).logits
        loss = loss_of(logits, targets)
        increase[layer, head] = loss - whole  # the increase of a head
    return increase


def farthest_head(evidence: Evidence, value: str) -> str:
    """A sentence on the head whose number is farthest off, in a value of shape (L, H)."""
    mine, right = evidence.yours(value), evidence.right(value)
    if mine.shape == right.shape and close(mine, right).all():
        return ""
    layer, head = farthest_index(mine, right)
    one, other = numbers_apart(float(mine[layer, head]), float(right[layer, head]))
    return f"For head {head} of layer {layer} you return {one} instead of {other}."


def _shown(evidence: Evidence) -> str:
    return farthest_head(evidence, "texts")


def _texts_of_reference(evidence: Evidence) -> str:
    return f"The reference has {evidence.inputs['reference'].shape[0]} texts. {_shown(evidence)}"


_zero_for_mean = mistake(
    "You replaced the head with zeros instead of with its mean.",
    lambda e: unwrapped(f"""Zeros also remove what the head always writes, no matter what it reads,
    which the later layers normally get. {_shown(e)}"""),
)(ablated(lambda reference, plain, layer, head: torch.zeros(())))  # noqa: ARG005


_mean_of_the_texts = mistake(
    "You took the mean over the texts that you test instead of over the reference.",
    lambda e: f"Then the mean still contains some of what you want to remove. {_shown(e)}",
    also=(
        ablated(
            lambda reference, plain, layer, head: (  # noqa: ARG005
                plain.found[layer, :, head].mean(1, keepdim=True)
            )
        ),
    ),
)(Like("used-tokens-instead-of-reference-in-what-the-heads-find-in-the-reference"))

_logits_reshaped = mistake(
    "You used `reshape` or `view` to bring the logits to (B, V, T), which mixes up their axes.",
    lambda e: f"`transpose(1, 2)` moves them. {_shown(e)}",
)(
    ablated(
        loss=lambda logits, targets: F.cross_entropy(
            logits.reshape(logits.shape[0], logits.shape[2], -1), targets
        )
    )
)

_softmax_taken_twice = mistake(
    "You gave probabilities to `cross_entropy`, which takes a softmax itself and needs logits.",
    _shown,
)(ablated(loss=lambda logits, targets: loss_of(logits.softmax(-1), targets)))

_loss_of_the_first_text = mistake("Your loss is that of the first text only.", _shown)(
    ablated(loss=lambda logits, targets: loss_of(logits[:1], targets[:1]))
)

_mean_over_the_heads = mistake(
    "You averaged over the texts and the heads, and took the mean at position h for head h.",
    lambda e: f"`found` is (L, N, H, T, D), so texts and positions are axes 1 and 3. {_shown(e)}",
)(ablated(lambda reference, plain, layer, head: reference.found[layer].mean((0, 1))[head]))  # noqa: ARG005

_mean_of_one_number = mistake(
    "You averaged over the channels too, so one number replaces all D of them.",
    lambda e: f"Each channel of a head has its own mean. {_shown(e)}",
)(ablated(lambda reference, plain, layer, head: reference.found[layer, :, head].mean()))  # noqa: ARG005


def _at_each_position(reference: Pass, plain: Pass, layer: int, head: int) -> Tensor:
    return reference.found[layer, :, head].mean(0)[: plain.found.shape[3]]


_mean_at_each_position = mistake(
    "You used a separate mean for each position instead of one over all texts and positions.",
    lambda e: unwrapped(f"""Then each position gets back what the head usually finds there, so what
    the head knows about positions isn't removed. {_shown(e)}"""),
)(ablated(_at_each_position))


_divided_by_the_whole = mistake(
    "You divided the increase by the whole model's loss, but it should be in nats.",
    _shown,
)(ablated(compare=lambda broken, whole: (broken - whole) / whole))


def _times(count: Callable[[Evidence], float]) -> Callable[[Evidence], bool]:
    """True of so many times the right increases. They are divided before they are compared, since
    sums round by more than the small increases that are differences of two of them.
    """

    def recognized(evidence: Evidence) -> bool:
        right, times = evidence.right("texts"), count(evidence)
        mine = evidence.shaped("texts", right.shape)
        return times > 1 and bool(close(mine / times, right).all())

    return recognized


@mistake(
    "You added up the losses of all symbols instead of taking their mean.",
    _shown,
    recognized=_times(lambda e: e.number("B") * e.number("T")),
)
def _losses_added_up(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    return mean_ablation(run, tokens, targets, reference) * targets.numel()


@mistake(
    "You added up the losses of each text instead of averaging over texts and positions.",
    lambda e: unwrapped(f"""With T = {e.number("T")}, all your numbers are {e.number("T")} times too
    large. {_shown(e)}"""),
    recognized=_times(lambda e: e.number("T")),
)
def _losses_of_a_text_added_up(
    run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor
) -> Tensor:
    return mean_ablation(run, tokens, targets, reference) * targets.shape[1]


_never_below_0 = mistake(
    "You clipped the increases at 0, but without a harmful head the loss falls.",
    lambda e: _shown(e) or farthest_head(e, "one"),
    cases=("texts", "one"),
)(Like("set-the-negative-numbers-of-the-increase-of-a-head-to-0"))


@mistake(
    "You left the heads broken, so each one is ablated together with all those before it.",
    lambda e: f"The first head is right, but the later ones add to the damage. {_shown(e)}",
)
def _heads_stay_broken(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    plain, other = run(tokens), run(reference)
    L, _, H = plain.found.shape[:3]
    broken: dict[tuple[int, int], Tensor] = {}
    increase = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            broken[layer, head] = _mean(other, plain, layer, head)
            loss = loss_of(run(tokens, broken).logits, targets)
            increase[layer, head] = loss - loss_of(plain.logits, targets)
    return increase


@mistake(
    "You broke all heads of a layer at once.",
    lambda e: f"That makes all entries of a row equal. {_shown(e)}",
)
def _whole_layers(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    plain, other = run(tokens), run(reference)
    L, _, H = plain.found.shape[:3]
    rows = [
        loss_of(run(tokens, {(k, h): _mean(other, plain, k, h) for h in range(H)}).logits, targets)
        for k in range(L)
    ]
    return (torch.stack(rows) - loss_of(plain.logits, targets))[:, None].expand(L, H)


_mean_of_the_first_text = mistake(
    "You took the mean over the first text of the reference instead of over all of them.",
    _texts_of_reference,
)(ablated(lambda reference, plain, layer, head: reference.found[layer, 0, head].mean(0)))  # noqa: ARG005


_loss_at_the_last_position = mistake(
    "You measured the loss only at the last position instead of at all of them.", _shown
)(ablated(loss=lambda logits, targets: loss_of(logits[:, -1:], targets[:, -1:])))


_some_of_the_reference = mistake(
    "You took the mean over only as many texts of the reference as you test.",
    _texts_of_reference,
)(
    lambda run, tokens, targets, reference: mean_ablation(
        run, tokens, targets, reference[: len(tokens)]
    )
)


_median_for_mean = mistake("You took the median of each channel instead of the mean.", _shown)(
    ablated(
        lambda reference, plain, layer, head: (  # noqa: ARG005
            reference.found[layer, :, head].flatten(0, 1).median(0).values
        )
    )
)


@mistake(
    "You took the mean over the reference and the texts that you test together.",
    lambda e: unwrapped(f"""The mean is over `reference` alone. Otherwise it still contains some of
    what you want to remove. {_stops_if_shorter(e)}{_shown(e)}"""),
)
def _mean_of_both(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    def both(other: Pass, plain: Pass, layer: int, head: int) -> Tensor:
        found = [made.found[layer, :, head].flatten(0, 1) for made in (other, plain)]
        return torch.cat(found).mean(0)

    return ablated(both)(run, tokens, targets, reference)


def _stops_if_shorter(evidence: Evidence) -> str:
    if "one" not in evidence.answers.errors:
        return ""
    return "And if these texts are shorter than those of the reference, your answer stops. "


def _means(evidence: Evidence, run: Runner) -> Tensor:
    """(L, H, D) what each head should find instead."""
    return run(torch.as_tensor(evidence.inputs["reference"])).found.mean(dim=(1, 3))


def _as_the_calls_show(evidence: Evidence) -> Finding | None:
    """What was put in place of the heads."""
    if evidence.same("texts"):
        return None
    right = _means(evidence, Runner(evidence.inputs))[:, :, None, None].numpy()
    return put(evidence, "calls", right, "its mean over the reference", ABLATE, "tokens")


def _worked_out(evidence: Evidence) -> Finding | None:
    """What was measured, if the heads are replaced as they should be."""
    if evidence.same("texts") or np.isnan(evidence.yours("calls.handed")).any():
        return None
    run = Runner(evidence.inputs)
    texts, targets = (torch.as_tensor(evidence.inputs[name]) for name in ("texts", "targets"))
    means = _means(evidence, run)

    def broken(layer: int, head: int) -> float:
        return float(loss_of(run(texts, {(layer, head): means[layer, head]}).logits, targets))

    return measured(evidence, "texts", float(loss_of(run(texts).logits, targets)), broken, ABLATE)


TASK = Task(
    "What a head is worth",
    mean_ablation,
    ABLATE,
    (
        Part("The increase for every head, its mean in its place.", 3, matches("texts")),
        Part("For a single shorter text as well.", 1, matches("texts", "one")),
    ),
    uncompared=CALLS,
    properties=(_as_the_calls_show,),
    examples=(_worked_out,),
    cases=("texts",),
    steps={
        "what the heads find in the reference": Step(
            "The mean comes from other texts, so that it says nothing about those that you test."
        ),
        "the means of the heads": Step(
            "Each head has one mean (D,), over all texts and positions of the reference."
        ),
        "the increase of a head": Step(
            "A head is worth as much as the loss rises without it, in nats."
        ),
    },
)
