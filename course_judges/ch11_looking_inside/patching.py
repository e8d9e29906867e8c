"""Judges 11/patching: how much of the difference between two runs each head brings back."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_judges.ch11_looking_inside.sections import PATCH
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.quoting import farthest
from course_judges.wording import unwrapped
from course_tasks.ch11_looking_inside.shared import Pass, Runner

Lead = Callable[[Tensor, Tensor, Tensor], Tensor]
Share = Callable[[Tensor, Tensor, Tensor], Tensor]


def lead_of(logits: Tensor, right: Tensor, wrong: Tensor) -> Tensor:
    """(B,) by how much the right symbol's logit leads at the last position."""
    rows = torch.arange(len(right))
    return logits[rows, -1, right] - logits[rows, -1, wrong]


def _share(patched: Tensor, corrupted: Tensor, clean: Tensor) -> Tensor:
    """() of the leads (B,), averaged over the texts before they are divided."""
    return (patched.mean() - corrupted.mean()) / (clean.mean() - corrupted.mean())


def patched(
    lead: Lead = lead_of,
    share: Share = _share,
    stand: Callable[[Pass, Pass, int, int], Tensor] = lambda clean, _, k, h: clean.found[k, :, h],
) -> Callable[..., Tensor]:
    """The share that each head brings back, (L, H)."""

    def answer(
        run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor
    ) -> Tensor:
        good, bad = run(clean), run(corrupted)
        top, bottom = lead(good.logits, right, wrong), lead(bad.logits, right, wrong)
        L, _, H = good.found.shape[:3]
        shares = torch.zeros(L, H)
        for layer in range(L):
            for head in range(H):
                mixed = run(corrupted, {(layer, head): stand(good, bad, layer, head)})
                shares[layer, head] = share(lead(mixed.logits, right, wrong), bottom, top)
        return shares

    return answer


patch_heads = patched()


def _shown(evidence: Evidence) -> str:
    return farthest(evidence, "shares")


@mistake(
    "You patched the corrupted run's heads into the clean one; it is the other way round.",
    lambda e: unwrapped(f"""Asked for is which head is *enough* to bring the answer back, not
    which is needed. {_shown(e)}"""),
)
def _clean_run_patched(
    run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor
) -> Tensor:
    return patch_heads(run, corrupted, clean, right, wrong)


@mistake(
    "You patched the corrupted run's heads into the clean one, and measured the way down.", _shown
)
def _noised(run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor) -> Tensor:
    return 1 - patch_heads(run, corrupted, clean, right, wrong)


_not_divided = mistake(
    "You return by how much the lead rises; asked for is the share of the whole way.",
    lambda e: f"Divide by what lies between the clean and the corrupted run. {_shown(e)}",
)(patched(share=lambda patched, corrupted, clean: (patched - corrupted).mean()))  # noqa: ARG005

_divided_by_the_clean_lead = mistake(
    "You divided by the clean lead; the whole way is the clean lead minus the corrupted one.",
    _shown,
)(
    patched(
        share=lambda patched, corrupted, clean: (patched.mean() - corrupted.mean()) / clean.mean()
    )
)

_corrupted_not_subtracted = mistake(
    "You divided the patched lead by the clean one; the corrupted run is where the way begins.",
    _shown,
)(patched(share=lambda patched, corrupted, clean: patched.mean() / clean.mean()))  # noqa: ARG005

_mean_of_quotients = mistake(
    "You averaged a quotient of each text; average the leads first, and divide then.",
    lambda e: f"A text whose two runs hardly differ would decide the mean. {_shown(e)}",
)(
    patched(
        share=lambda patched, corrupted, clean: ((patched - corrupted) / (clean - corrupted)).mean()
    )
)

_lacking_share = mistake(
    "Your share is what is still missing; asked for is what the head brings back.", _shown
)(
    patched(
        share=lambda patched, corrupted, clean: (
            (clean.mean() - patched.mean()) / (clean.mean() - corrupted.mean())
        )
    )
)

_right_logit_alone = mistake(
    "You follow the right symbol's logit alone; a lead is over the wrong one.",
    lambda e: f"A head that raises all logits alike brings nothing back. {_shown(e)}",
)(patched(lead=lambda logits, right, wrong: logits[torch.arange(len(right)), -1, right]))  # noqa: ARG005

_probability = mistake("You follow the right symbol's probability; asked for are logits.", _shown)(
    patched(
        lead=lambda logits, right, wrong: (  # noqa: ARG005
            logits[:, -1].softmax(-1)[torch.arange(len(right)), right]
        )
    )
)

_first_position = mistake("You read the logits at position 0; the last one is asked for.", _shown)(
    patched(lead=lambda logits, right, wrong: lead_of(logits[:, :1], right, wrong))
)

_all_positions = mistake(
    "You averaged the lead over all positions; the last one is asked for.", _shown
)(
    patched(
        lead=lambda logits, right, wrong: (
            logits.mean(1)[torch.arange(len(right)), right]
            - logits.mean(1)[torch.arange(len(right)), wrong]
        )
    )
)


def _only_last(clean: Pass, bad: Pass, layer: int, head: int) -> Tensor:
    found = bad.found[layer, :, head].clone()
    found[:, -1] = clean.found[layer, :, head, -1]
    return found


_mean_of_the_texts = mistake(
    "You put the mean of the clean texts into every text; each has a clean text of its own.", _shown
)(patched(stand=lambda clean, _, k, h: clean.found[k, :, h].mean(0)))

_mean_patched = mistake(
    "You put one mean of what the head found into all positions; each has a finding of its own.",
    lambda e: unwrapped(f"""A mean over positions is what task 5 puts in, to silence a head. Here
    position t of text b gets what the clean run found at t of b. {_shown(e)}"""),
    also=(patched(stand=lambda clean, _, k, h: clean.found[k, :, h].mean(1, keepdim=True)),),
)(patched(stand=lambda clean, _, k, h: clean.found[k, :, h].mean((0, 1))))

_last_position_patched = mistake(
    "Only the last position is patched; patch what the head finds at all of them.", _shown
)(patched(stand=_only_last))

_last_finding_everywhere = mistake(
    "You put what the head found at the last position into all positions; each has a finding of "
    "its own.",
    lambda e: unwrapped(f"""The last layer, row {len(e.right("shares")) - 1} of your shares, comes
    out right: only its last position is read. In the layers before it, all positions are.
    {_shown(e)}"""),
)(patched(stand=lambda clean, _, k, h: clean.found[k, :, h, -1:]))


@mistake(
    "The patches add up: each head is patched together with all before it.",
    lambda e: f"The first head is right. {_shown(e)}",
)
def _patches_add_up(
    run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor
) -> Tensor:
    good, bad = run(clean), run(corrupted)
    top, bottom = (lead_of(one.logits, right, wrong) for one in (good, bad))
    L, _, H = good.found.shape[:3]
    kept: dict[tuple[int, int], Tensor] = {}
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            kept[layer, head] = good.found[layer, :, head]
            mixed = lead_of(run(corrupted, kept).logits, right, wrong)
            shares[layer, head] = _share(mixed, bottom, top)
    return shares


@mistake("You patched the first pair of texts only; average over all pairs.", _shown)
def _one_pair_alone(
    run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor
) -> Tensor:
    return patch_heads(run, *(given[:1] for given in (clean, corrupted, right, wrong)))


_median_for_mean = mistake("You took the median of the leads; asked for is their mean.", _shown)(
    patched(
        share=lambda patched, corrupted, clean: (
            (patched.median() - corrupted.median()) / (clean.median() - corrupted.median())
        )
    )
)

_log_probability = mistake(
    "You follow the right symbol's log probability alone; a lead is over the wrong one's logit.",
    _shown,
)(
    patched(
        lead=lambda logits, right, wrong: (  # noqa: ARG005
            logits[:, -1].log_softmax(-1)[torch.arange(len(right)), right]
        )
    )
)

_way_without_its_sign = mistake(
    "Where the clean lead is below the corrupted one, your shares have the other sign.",
    lambda e: unwrapped(f"""The way is clean − corrupted, with its sign: not its size, and not
    corrupted − clean. {_shown(e)}"""),
)(
    patched(
        share=lambda patched, corrupted, clean: (
            (patched.mean() - corrupted.mean()) / (clean.mean() - corrupted.mean()).abs()
        )
    )
)


def _over_the_best(logits: Tensor, right: Tensor, wrong: Tensor) -> Tensor:  # noqa: ARG001
    end = logits[:, -1]
    own = torch.nn.functional.one_hot(right, end.shape[-1]).bool()
    return end[own] - end.masked_fill(own, -torch.inf).amax(dim=-1)


_lead_over_the_best = mistake(
    "Your lead is over the best other symbol; asked for is that over `wrong`, whatever leads.",
    _shown,
)(patched(_over_the_best))

_lead_over_the_mean = mistake(
    "Your lead is over the mean of the logits; asked for is that over the logit of `wrong`.",
    _shown,
)(
    patched(
        lead=lambda logits, right, wrong: (  # noqa: ARG005
            logits[torch.arange(len(right)), -1, right] - logits[:, -1].mean(dim=-1)
        )
    )
)

_difference_of_probabilities = mistake(
    "Your lead is a difference of probabilities; asked for is one of logits.",
    lambda e: f"A softmax mixes in the logits of all other symbols. {_shown(e)}",
)(patched(lead=lambda logits, right, wrong: lead_of(logits.softmax(-1), right, wrong)))


def _kept_within(low: float | None, high: float | None) -> Share:
    return lambda patched, corrupted, clean: _share(patched, corrupted, clean).clamp(low, high)


_kept_between = mistake(
    "You cut your shares off at 0 and 1; a head may do harm, or bring back more than was lost.",
    _shown,
    also=(patched(share=_kept_within(0, None)), patched(share=_kept_within(None, 1))),
)(patched(share=_kept_within(0, 1)))


TASK = Task(
    "Patching a head",
    patch_heads,
    PATCH,
    (Part("Of the lead, the share that each head brings back.", 4, matches("shares")),),
)
