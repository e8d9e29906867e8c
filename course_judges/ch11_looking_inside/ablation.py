"""Judges 11/ablation: what each head is worth, measured by replacing it with its mean."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch11_looking_inside.replacing import measured, put
from course_judges.ch11_looking_inside.sections import ABLATE
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.quoting import farthest_index
from course_judges.wording import numbers_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.ch11_looking_inside.shared import CALLS, Pass, Replaced, Runner
from course_tasks.verdict import Finding

Replacement = Callable[[Pass, Pass, int, int], Tensor]


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """() the mean cross-entropy in nats."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _mean(reference: Pass, _: Pass, layer: int, head: int) -> Tensor:
    """(D,) over the texts and positions of the reference."""
    return reference.found[layer, :, head].mean(dim=(0, 1))


def ablated(
    replacement: Replacement = _mean, *, compare: Callable[[Tensor, Tensor], Tensor] = torch.sub
) -> Callable[..., Tensor]:
    """An answer (L, H) that replaces what a head finds in this way."""

    def answer(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
        plain, other = run(tokens), run(reference)
        L, _, H = plain.found.shape[:3]
        whole = loss_of(plain.logits, targets)
        increase = torch.zeros(L, H)
        for layer in range(L):
            for head in range(H):
                broken = run(tokens, {(layer, head): replacement(other, plain, layer, head)})
                increase[layer, head] = compare(loss_of(broken.logits, targets), whole)
        return increase

    return answer


mean_ablation = ablated()


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
)(ablated(lambda reference, plain, layer, head: plain.found[layer, :, head].mean((0, 1))))  # noqa: ARG005

_mean_of_one_number = mistake(
    "You averaged over the channels too, so one number replaces all D of them.",
    lambda e: f"Each channel of a head has its own mean. {_shown(e)}",
)(ablated(lambda reference, plain, layer, head: reference.found[layer, :, head].mean()))  # noqa: ARG005

_mean_of_all_heads = mistake(
    "You used one mean for all heads of a layer, but each head has its own.", _shown
)(
    ablated(
        lambda reference, plain, layer, head: reference.found[layer].mean((0, 1, 2))  # noqa: ARG005
    )
)

_another_text = mistake(
    "You replaced the head with what it found in one other text instead of with its mean.",
    lambda e: f"That is resampling. {_shown(e)}",
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
    "You used a separate mean for each position instead of one over all texts and positions.",
    lambda e: unwrapped(f"""Then each position gets back what the head usually finds there, so what
    the head knows about positions isn't removed. {_shown(e)}"""),
)(ablated(_at_each_position))

_sign_exchanged = mistake(
    "You subtracted the broken model's loss from the whole model's, not the other way round.",
    lambda e: f"A head that the model needs should have an increase above 0. {_shown(e)}",
)(ablated(compare=lambda broken, whole: whole - broken))

_loss_itself = mistake(
    "You return the loss with the head broken instead of how much it increased.", _shown
)(ablated(compare=lambda broken, whole: broken))  # noqa: ARG005

_times_as_high = mistake(
    "You divided the two losses, but the task asks for their difference in nats.", _shown
)(ablated(compare=lambda broken, whole: broken / whole))


_divided_by_the_whole = mistake(
    "You divided the increase by the whole model's loss, but it should be in nats.",
    _shown,
)(ablated(compare=lambda broken, whole: (broken - whole) / whole))

_divided_by_the_broken = mistake(
    "You divided the increase by the broken model's loss, but it should be in nats.",
    _shown,
)(ablated(compare=lambda broken, whole: (broken - whole) / broken))


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


_in_bits = mistake(
    "Your loss is in bits, but it should be in nats, as `cross_entropy` returns it.", _shown
)(ablated(compare=lambda broken, whole: (broken - whole) / math.log(2)))

_mean_of_head_0 = mistake(
    "You used the mean of head 0 for every head of a layer, but each has its own.", _shown
)(ablated(lambda reference, plain, layer, head: reference.found[layer, :, 0].mean((0, 1))))  # noqa: ARG005

_never_below_0 = mistake(
    "You clipped the increases at 0, but without a harmful head the loss falls.",
    lambda e: _shown(e) or farthest_head(e, "one"),
    cases=("texts", "one"),
)(ablated(compare=lambda broken, whole: (broken - whole).clamp(min=0)))

_sign_dropped = mistake(
    "Your increases have no sign, but without a harmful head the loss falls.",
    lambda e: _shown(e) or farthest_head(e, "one"),
    cases=("texts", "one"),
)(ablated(compare=lambda broken, whole: (broken - whole).abs()))


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


@mistake("You replaced what the head finds only at the last position, not at all of them.", _shown)
def _last_position_only(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    def replacement(other: Pass, plain: Pass, layer: int, head: int) -> Tensor:
        found = plain.found[layer, :, head].clone()
        found[:, -1] = _mean(other, plain, layer, head)
        return found

    return ablated(replacement)(run, tokens, targets, reference)


_mean_of_the_first_text = mistake(
    "You took the mean over the first text of the reference instead of over all of them.",
    _texts_of_reference,
)(ablated(lambda reference, plain, layer, head: reference.found[layer, 0, head].mean(0)))  # noqa: ARG005

_mean_at_the_last_position = mistake(
    "You took the mean only at the last position instead of over all positions.", _shown
)(ablated(lambda reference, plain, layer, head: reference.found[layer, :, head, -1].mean(0)))  # noqa: ARG005


@mistake("You measured the loss only at the last position instead of at all of them.", _shown)
def _loss_at_the_last_position(
    run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor
) -> Tensor:
    def last(texts: Tensor, replaced: Replaced | None = None) -> Pass:
        made = run(texts, replaced)
        return made._replace(logits=made.logits[:, -1:]) if texts is tokens else made

    return mean_ablation(last, tokens, targets[:, -1:], reference)


@mistake(
    "You took the mean over only as many texts of the reference as you test.",
    _texts_of_reference,
)
def _some_of_the_reference(
    run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor
) -> Tensor:
    return mean_ablation(run, tokens, targets, reference[: len(tokens)])


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


@mistake(
    "You took the mean over only as many positions of the reference as the tested texts have.",
    lambda e: unwrapped(f"""It is over all positions of the reference, also if the texts that you
    test are shorter. {farthest_head(e, "one")}"""),
    cases=("texts", "one"),
)
def _reference_cut(run: Runner, tokens: Tensor, targets: Tensor, reference: Tensor) -> Tensor:
    return mean_ablation(run, tokens, targets, reference[:, : tokens.shape[1]])


def other_replacements(reference: Pass, plain: Pass) -> dict[str, Array]:
    """What else a head may be replaced by, each of a shape that broadcasts to (L, H, B, T, D)."""
    found = reference.found.transpose(1, 2)  # (L, H, N, T, D)
    L, H, _, _, D = found.shape
    means = found.mean(dim=(2, 3), keepdim=True)
    own = plain.found.transpose(1, 2)
    made = {
        "what it found in the tested texts themselves, so nothing changes": own,
        "what it found in the tested texts minus the mean": own - means,
        "what it found in the tested texts plus the mean": own + means,
        "the mean of what it found in the tested texts and its mean": (own + means) / 2,
        "its standard deviation over the reference": found.flatten(2, 3).std(2)[:, :, None, None],
        "half its mean": means / 2,
        "minus its mean": -means,
        "its sum over the reference instead of its mean": found.sum(dim=(2, 3), keepdim=True),
        "its mean over the texts, added up over the positions": found.mean(2, keepdim=True).sum(
            3, keepdim=True
        ),
        "the largest number of each channel": found.amax(dim=(2, 3), keepdim=True),
        "its mean without position 0": found[:, :, :, 1:].mean(dim=(2, 3), keepdim=True),
        "its mean without the last position": found[:, :, :, :-1].mean(dim=(2, 3), keepdim=True),
        "its mean at position 0 only": found[:, :, :, :1].mean(2, keepdim=True),
        "its mean at the last position only": found[:, :, :, -1:].mean(2, keepdim=True),
        "its mean in the first text of the reference only": found[:, :, :1].mean(3, keepdim=True),
        "its mean in the last text of the reference only": found[:, :, -1:].mean(3, keepdim=True),
        "what it found at the last position of the last text": found[:, :, -1:, -1:],
        "what it found at position 0 of the first text": found[:, :, :1, :1],
        "the mean of the next head of its layer": means.roll(-1, dims=1),
        "the mean of the head before it": means.roll(1, dims=1),
        "the mean of the head with its number in layer 0": means[:1],
        "the mean of the head with its number in the last layer": means[-1:],
        "a mean over all layers": means.mean(0, keepdim=True),
        "a mean that mixes the heads, because `reshape` doesn't move axes": reference.found.reshape(
            L, H, -1, D
        ).mean(2)[:, :, None, None],
    }
    # `found` is (L, N, H, T, D), and a mean over two wrong axes leaves positions or texts as heads.
    if found.shape[3] >= H:
        made[
            "the mean over the texts and the heads at the position with its number, as if axes 1 "
            "and 2 of `found` were texts and positions. It is (L, N, H, T, D)"
        ] = found.mean(dim=(1, 2))[:, :H, None, None]
    if found.shape[2] >= H:
        made[
            "the mean over the heads and the positions of the text with its number, as if axes 2 "
            "and 3 of `found` were texts and positions. It is (L, N, H, T, D)"
        ] = found.mean(dim=(1, 3))[:, :H, None, None]
    return {name: other.numpy() for name, other in made.items()}


def _last_left_out(logits: Tensor, targets: Tensor) -> Tensor:
    return loss_of(logits[:, :-1], targets[:, :-1])


def _logit_of_the_target(logits: Tensor, targets: Tensor) -> Tensor:
    return logits.gather(-1, targets[..., None])


_OTHER_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "": loss_of,
    "You used `reshape` or `view` to bring the logits to (B, V, T), which mixes up their axes. "
    "`transpose(1, 2)` moves them.": lambda logits, targets: F.cross_entropy(
        logits.reshape(logits.shape[0], logits.shape[2], -1), targets
    ),
    "Your loss compares logits with the targets of the position after. `targets` is already "
    "shifted.": lambda logits, targets: loss_of(logits[:, :-1], targets[:, 1:]),
    "Your loss compares logits with the targets of the position before.": lambda logits, targets: (
        loss_of(logits[:, 1:], targets[:, :-1])
    ),
    "Your loss leaves out the last position.": _last_left_out,
    "Your loss leaves out position 0.": lambda logits, targets: loss_of(
        logits[:, 1:], targets[:, 1:]
    ),
    "Your loss is that of position 0 only.": lambda logits, targets: loss_of(
        logits[:, :1], targets[:, :1]
    ),
    "Your loss is that of the first text only.": lambda logits, targets: loss_of(
        logits[:1], targets[:1]
    ),
    "Your loss is that of the last text only.": lambda logits, targets: loss_of(
        logits[-1:], targets[-1:]
    ),
    "You gave probabilities to `cross_entropy`, which takes a softmax itself and needs logits.": (
        lambda logits, targets: loss_of(logits.softmax(-1), targets)
    ),
    "You measure how often the model is wrong instead of its cross-entropy.": (
        lambda logits, targets: (logits.argmax(-1) != targets).float().mean()
    ),
    "You measure how often the model is right instead of its cross-entropy.": (
        lambda logits, targets: (logits.argmax(-1) == targets).float().mean()
    ),
    "Your loss leaves out the targets that are 0, but 0 is a symbol like the others.": (
        lambda logits, targets: F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=0
        )
    ),
    "You measure the target's probability without its logarithm.": lambda logits, targets: (
        -_logit_of_the_target(logits.softmax(-1), targets).mean()
    ),
    "You took the logarithm of the mean probability instead of the mean of the logarithms.": (
        lambda logits, targets: -_logit_of_the_target(logits.softmax(-1), targets).mean().log()
    ),
    "You measure the target's logit without the softmax over all of them.": (
        lambda logits, targets: -_logit_of_the_target(logits, targets).mean()
    ),
    "You took e to the power of the loss, the perplexity.": lambda logits, targets: loss_of(
        logits, targets
    ).exp(),
    "Your loss has the opposite sign of the cross-entropy.": lambda logits, targets: (
        -loss_of(logits, targets)
    ),
    "You averaged the logits over the texts before the loss.": lambda logits, targets: (
        F.cross_entropy(logits.mean(0).repeat(len(targets), 1, 1).flatten(0, 1), targets.flatten())
    ),
    "You averaged the logits over the positions before the loss.": lambda logits, targets: loss_of(
        logits.mean(1, keepdim=True).expand_as(logits), targets
    ),
    "You took the largest loss of a position instead of the mean.": lambda logits, targets: (
        F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").max()
    ),
    "You took the median of the losses instead of their mean.": lambda logits, targets: (
        F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").median()
    ),
}


def _as_the_calls_show(evidence: Evidence) -> Finding | None:
    """What was put in place of the heads, and if that is right, what was measured."""
    if evidence.same("texts"):
        return None
    run = Runner(evidence.inputs)
    texts, targets, reference = (
        torch.as_tensor(evidence.inputs[name]) for name in ("texts", "targets", "reference")
    )
    plain, other = run(texts), run(reference)
    means = other.found.mean(dim=(1, 3))  # (L, H, D)
    found = put(
        evidence,
        "calls",
        means[:, :, None, None].numpy(),
        lambda: other_replacements(other, plain),
        "its mean over the reference",
        ABLATE,
        "tokens",
    )
    if found is not None or np.isnan(evidence.yours("calls.handed")).any():
        return found
    L, H = means.shape[:2]
    broken = [
        [run(texts, {(layer, head): means[layer, head]}).logits for head in range(H)]
        for layer in range(L)
    ]
    losses = _OTHER_LOSSES | {
        "Your loss compares the logits with the tokens themselves instead of the targets.": (
            lambda logits, _: loss_of(logits, texts)
        ),
        "Your loss compares the logits with the next tokens instead of the targets.": (
            lambda logits, _: loss_of(logits[:, :-1], texts[:, 1:])
        ),
    }
    return measured(evidence, "texts", plain.logits, broken, targets, losses, ABLATE)


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
    cases=("texts",),
)
