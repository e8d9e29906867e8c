"""Judges 11/ablation: what each head is worth, measured by putting its mean in its place."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch11_looking_inside.sections import ABLATE
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.quoting import farthest
from course_judges.wording import number, unwrapped
from course_tasks.ch11_looking_inside.shared import Pass, Replaced, Runner

Stand = Callable[[Pass, Pass, int, int], Tensor]


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """() the mean cross-entropy in nats."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _mean(reference: Pass, _: Pass, layer: int, head: int) -> Tensor:
    """(D,) over the texts and positions of the reference."""
    return reference.found[layer, :, head].mean(dim=(0, 1))


def ablated(
    stand: Stand = _mean, *, compare: Callable[[Tensor, Tensor], Tensor] = torch.sub
) -> Callable[..., Tensor]:
    """What each head is worth, with something of this kind in its place: (L, H)."""

    def answer(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
        plain, other = run(tokens), run(reference)
        L, _, H = plain.found.shape[:3]
        whole = loss_of(plain.logits, targets)
        increase = torch.zeros(L, H)
        for layer in range(L):
            for head in range(H):
                broken = run(tokens, {(layer, head): stand(other, plain, layer, head)})
                increase[layer, head] = compare(loss_of(broken.logits, targets), whole)
        return increase

    return answer


mean_ablation = ablated()


def _shown(evidence: Evidence) -> str:
    return farthest(evidence, "texts")


def _less(evidence: Evidence) -> str:
    mine, right = evidence.yours("texts"), evidence.right("texts")
    return f"Head 0 of layer 0: yours {number(mine[0, 0])}, expected {number(right[0, 0])}."


_zero_for_mean = mistake(
    "You put zeros in the head's place; asked for is its mean.",
    lambda e: unwrapped(f"""Zeros also take away what the head writes whatever it reads, and
    the layers behind it never saw that missing. {_shown(e)}"""),
)(ablated(lambda reference, plain, layer, head: torch.zeros(())))  # noqa: ARG005

_mean_of_the_texts = mistake(
    "The mean is taken over the texts that are tested; take it over the reference.",
    lambda e: f"Then what is to be removed is part of what replaces it. {_shown(e)}",
    also=(
        ablated(
            lambda reference, plain, layer, head: (  # noqa: ARG005
                plain.found[layer, :, head].mean(1, keepdim=True)
            )
        ),
    ),
)(ablated(lambda reference, plain, layer, head: plain.found[layer, :, head].mean((0, 1))))  # noqa: ARG005

_mean_of_one_number = mistake(
    "The mean runs over the channels too, so one number replaces all D.",
    lambda e: f"Each channel of a head has a mean of its own. {_shown(e)}",
)(ablated(lambda reference, plain, layer, head: reference.found[layer, :, head].mean()))  # noqa: ARG005

_mean_of_all_heads = mistake(
    "One mean serves all heads of a layer; each head has its own.", _shown
)(
    ablated(
        lambda reference, plain, layer, head: reference.found[layer].mean((0, 1, 2))  # noqa: ARG005
    )
)

_another_text = mistake(
    "You put in what the head found in one other text: that is resampling.",
    _shown,
    cases=("one",),
)(
    ablated(
        lambda reference, plain, layer, head: reference.found[
            layer, :1, head, : plain.found.shape[3]
        ]
    )
)


def _at_each_position(reference: Pass, plain: Pass, layer: int, head: int) -> Tensor:
    return reference.found[layer, :, head].mean(0)[: plain.found.shape[3]]


_mean_at_each_position = mistake(
    "Each position gets a mean of its own; asked for is one over texts and positions.",
    lambda e: unwrapped(f"""What the head finds at position 0 is then put back at position 0, and
    with it everything that it knows of places. {_shown(e)}"""),
)(ablated(_at_each_position))

_sign_exchanged = mistake(
    "You subtracted the broken model's loss from the whole one's; it is the other way round.",
    lambda e: f"A head that is needed has an increase above 0. {_less(e)}",
)(ablated(compare=lambda broken, whole: whole - broken))

_loss_itself = mistake(
    "You return the loss with the head broken; asked for is by how much it is higher.", _less
)(ablated(compare=lambda broken, whole: broken))  # noqa: ARG005

_times_as_high = mistake(
    "You divided the two losses; asked for is their difference, in nats.", _less
)(ablated(compare=lambda broken, whole: broken / whole))


_divided_by_the_whole = mistake(
    "You divided the increase by the loss of the whole model; asked for is the increase in nats.",
    _less,
)(ablated(compare=lambda broken, whole: (broken - whole) / whole))


@mistake("You added the losses of all symbols up; the loss is their mean.", _less)
def _losses_added_up(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    return mean_ablation(run, tokens, targets, reference) * targets.numel()


@mistake(
    "You added the losses of each text up; the mean runs over texts and positions.",
    lambda e: (
        f"With T = {e.number('T')} every number is {e.number('T')} times the right one. {_less(e)}"
    ),
)
def _losses_of_a_text_added_up(
    run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor
) -> Tensor:
    return mean_ablation(run, tokens, targets, reference) * targets.shape[1]


_in_bits = mistake(
    "Your loss is in bits; asked for are nats, as `cross_entropy` gives them.", _less
)(ablated(compare=lambda broken, whole: (broken - whole) / math.log(2)))

_mean_of_head_0 = mistake(
    "Every head of a layer gets the mean of its head 0; each has its own.", _shown
)(ablated(lambda reference, plain, layer, head: reference.found[layer, :, 0].mean((0, 1))))  # noqa: ARG005

_never_below_0 = mistake(
    "You cut the increases off at 0; without a head that does harm the loss falls.", _shown
)(ablated(compare=lambda broken, whole: (broken - whole).clamp(min=0)))


@mistake(
    "The heads stay broken: each is ablated together with all before it.",
    lambda e: f"The first head is right, and every later one carries what came before. {_shown(e)}",
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
    "All heads of the layer are broken at once.",
    lambda e: f"All entries of a row are then equal. {_shown(e)}",
)
def _whole_layers(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    plain, other = run(tokens), run(reference)
    L, _, H = plain.found.shape[:3]
    rows = [
        loss_of(run(tokens, {(k, h): _mean(other, plain, k, h) for h in range(H)}).logits, targets)
        for k in range(L)
    ]
    return (torch.stack(rows) - loss_of(plain.logits, targets))[:, None].expand(L, H)


@mistake("Only the last position is broken; replace what the head finds at all of them.", _shown)
def _last_position_only(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    def stand(other: Pass, plain: Pass, layer: int, head: int) -> Tensor:
        found = plain.found[layer, :, head].clone()
        found[:, -1] = _mean(other, plain, layer, head)
        return found

    return ablated(stand)(run, tokens, targets, reference)


_mean_of_the_first_text = mistake(
    "The mean is taken over the first text of the reference; take it over all of them.",
    lambda e: f"The reference has {e.inputs['reference'].shape[0]} texts. {_shown(e)}",
)(ablated(lambda reference, plain, layer, head: reference.found[layer, 0, head].mean(0)))  # noqa: ARG005

_mean_at_the_last_position = mistake(
    "The mean is taken at the last position only; take it over texts and positions.", _shown
)(ablated(lambda reference, plain, layer, head: reference.found[layer, :, head, -1].mean(0)))  # noqa: ARG005


@mistake("You measured the loss at the last position only; it is the mean over all.", _shown)
def _loss_at_the_last_position(
    run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor
) -> Tensor:
    def last(texts: Tensor, replaced: Replaced | None = None) -> Pass:
        made = run(texts, replaced)
        return made._replace(logits=made.logits[:, -1:]) if texts is tokens else made

    return mean_ablation(last, tokens, targets[:, -1:], reference)


@mistake(
    "You take the mean over as many texts of the reference as are tested; take it over all.",
    lambda e: f"The reference has {e.inputs['reference'].shape[0]} texts. {_shown(e)}",
)
def _some_of_the_reference(
    run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor
) -> Tensor:
    return mean_ablation(run, tokens, targets, reference[: len(tokens)])


_median_for_mean = mistake("You took the median of each channel; asked for is the mean.", _shown)(
    ablated(
        lambda reference, plain, layer, head: (  # noqa: ARG005
            reference.found[layer, :, head].flatten(0, 1).median(0).values
        )
    )
)


TASK = Task(
    "What a head is worth",
    mean_ablation,
    ABLATE,
    (
        Part("The increase for every head, its mean in its place.", 3, matches("texts")),
        Part("For a single shorter text as well.", 1, matches("texts", "one")),
    ),
    cases=("texts",),
)
