"""Judges 11/patching: how much of the difference between two runs each head brings back."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_judges.ch11_looking_inside.ablation import farthest_head
from course_judges.ch11_looking_inside.sections import PATCH
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.ch11_looking_inside.shared import Pass, Runner

Lead = Callable[[Tensor, Tensor, Tensor], Tensor]
Share = Callable[[Tensor, Tensor, Tensor], Tensor]


def lead_of(logits: Tensor, right: Tensor, wrong: Tensor) -> Tensor:
    """(B,) by how much the right symbol's logit leads at the last position."""
    rows = torch.arange(len(right))
    return logits[rows, -1, right] - logits[rows, -1, wrong]


def _share(patched: Tensor, corrupted: Tensor, clean: Tensor) -> Tensor:
    """() the share of the way; the leads (B,) are averaged over the texts before the division."""
    return (patched.mean() - corrupted.mean()) / (clean.mean() - corrupted.mean())


def patched(
    lead: Lead = lead_of,
    share: Share = _share,
    replacement: Callable[[Pass, Pass, int, int], Tensor] = lambda clean, _, k, h: clean.found[
        k, :, h
    ],
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
                mixed = run(corrupted, {(layer, head): replacement(good, bad, layer, head)})
                shares[layer, head] = share(lead(mixed.logits, right, wrong), bottom, top)
        return shares

    return answer


patch_heads = patched()


def _shown(evidence: Evidence) -> str:
    return farthest_head(evidence, "shares")


@mistake(
    "You patched the corrupted run's heads into the clean run, not the other way round.",
    lambda e: unwrapped(f"""The question is which head is *enough* to bring the answer back, not
    which head is needed for it. {_shown(e)}"""),
)
def _clean_run_patched(
    run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor
) -> Tensor:
    return patch_heads(run, corrupted, clean, right, wrong)


@mistake(
    "You patched the corrupted run's heads into the clean run and measured how much is lost.",
    lambda e: unwrapped(f"""Patch the clean run's heads into the corrupted run, and measure how much
    of the lead comes back. {_shown(e)}"""),
)
def _noised(run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor) -> Tensor:
    return 1 - patch_heads(run, corrupted, clean, right, wrong)


_not_divided = mistake(
    "You return how much the lead rises instead of its share of the whole difference.",
    lambda e: unwrapped(f"""Divide by the difference between the clean lead and the corrupted one.
    {_shown(e)}"""),
)(patched(share=lambda patched, corrupted, clean: (patched - corrupted).mean()))  # noqa: ARG005

_divided_by_the_clean_lead = mistake(
    "You divided by the clean lead instead of by the clean lead minus the corrupted one.",
    _shown,
)(
    patched(
        share=lambda patched, corrupted, clean: (patched.mean() - corrupted.mean()) / clean.mean()
    )
)

_corrupted_not_subtracted = mistake(
    "You divided the patched lead by the clean one without subtracting the corrupted lead.",
    _shown,
)(patched(share=lambda patched, corrupted, clean: patched.mean() / clean.mean()))  # noqa: ARG005

_mean_of_quotients = mistake(
    "You averaged the shares of single texts, but the leads should be averaged before dividing.",
    lambda e: unwrapped(f"""Otherwise, a text whose two runs hardly differ dominates the mean.
    {_shown(e)}"""),
)(
    patched(
        share=lambda patched, corrupted, clean: ((patched - corrupted) / (clean - corrupted)).mean()
    )
)

_lacking_share = mistake(
    "Your share is what is still missing instead of what the head brings back.", _shown
)(
    patched(
        share=lambda patched, corrupted, clean: (
            (clean.mean() - patched.mean()) / (clean.mean() - corrupted.mean())
        )
    )
)

_right_logit_alone = mistake(
    "You used only the right symbol's logit, but its lead is how far it is above the wrong one's.",
    lambda e: f"A head that raises all logits equally brings nothing back. {_shown(e)}",
)(patched(lead=lambda logits, right, wrong: logits[torch.arange(len(right)), -1, right]))  # noqa: ARG005

_probability = mistake("You used the right symbol's probability instead of logits.", _shown)(
    patched(
        lead=lambda logits, right, wrong: (  # noqa: ARG005
            logits[:, -1].softmax(-1)[torch.arange(len(right)), right]
        )
    )
)

_first_position = mistake("You read the logits at position 0 instead of the last one.", _shown)(
    patched(lead=lambda logits, right, wrong: lead_of(logits[:, :1], right, wrong))
)

_all_positions = mistake(
    "You averaged the lead over all positions instead of taking it at the last one.", _shown
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
    "You patched the mean of the clean texts into every text, but each has its own clean text.",
    _shown,
)(patched(replacement=lambda clean, _, k, h: clean.found[k, :, h].mean(0)))

_mean_patched = mistake(
    "You patched a mean over the positions into all of them, but each position needs its own.",
    lambda e: unwrapped(f"""Task 5 used such a mean to silence a head. Here, position t of text b
    should get what the head found there in the clean run. {_shown(e)}"""),
    also=(patched(replacement=lambda clean, _, k, h: clean.found[k, :, h].mean(1, keepdim=True)),),
)(patched(replacement=lambda clean, _, k, h: clean.found[k, :, h].mean((0, 1))))

_last_position_patched = mistake(
    "You patched what the head finds only at the last position instead of at all of them.", _shown
)(patched(replacement=_only_last))

_last_finding_everywhere = mistake(
    "You patched what the head found at the last position into all positions.",
    lambda e: unwrapped(f"""Row {len(e.right("shares")) - 1} of your shares is right, because only
    the last position of the last layer is read. But in the layers before it all positions matter,
    and each needs what the head found there. {_shown(e)}"""),
)(patched(replacement=lambda clean, _, k, h: clean.found[k, :, h, -1:]))


@mistake(
    "You left the patches in, so each head is patched together with all those before it.",
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


@mistake("You patched only the first pair of texts instead of averaging over all pairs.", _shown)
def _one_pair_alone(
    run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor
) -> Tensor:
    return patch_heads(run, *(given[:1] for given in (clean, corrupted, right, wrong)))


_median_for_mean = mistake("You took the median of the leads instead of their mean.", _shown)(
    patched(
        share=lambda patched, corrupted, clean: (
            (patched.median() - corrupted.median()) / (clean.median() - corrupted.median())
        )
    )
)

_log_probability = mistake(
    "You used only the right symbol's log probability instead of its lead over the wrong symbol.",
    _shown,
)(
    patched(
        lead=lambda logits, right, wrong: (  # noqa: ARG005
            logits[:, -1].log_softmax(-1)[torch.arange(len(right)), right]
        )
    )
)

_way_without_its_sign = mistake(
    "Your shares have the wrong sign if the clean lead is below the corrupted one.",
    lambda e: unwrapped(f"""Divide by clean − corrupted with its sign, not by its absolute value or
    by corrupted − clean. {_shown(e)}"""),
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
    "You took the lead over the best other symbol instead of over `wrong`.",
    _shown,
)(patched(_over_the_best))

_lead_over_the_mean = mistake(
    "You took the lead over the mean of the logits instead of over the logit of `wrong`.",
    _shown,
)(
    patched(
        lead=lambda logits, right, wrong: (  # noqa: ARG005
            logits[torch.arange(len(right)), -1, right] - logits[:, -1].mean(dim=-1)
        )
    )
)

_difference_of_probabilities = mistake(
    "You took the lead as a difference of probabilities instead of logits.",
    lambda e: f"A softmax mixes in the logits of all other symbols. {_shown(e)}",
)(patched(lead=lambda logits, right, wrong: lead_of(logits.softmax(-1), right, wrong)))


def _kept_within(low: float | None, high: float | None) -> Share:
    return lambda patched, corrupted, clean: _share(patched, corrupted, clean).clamp(low, high)


_kept_between = mistake(
    "You clipped your shares at 0 or at 1.",
    lambda e: f"A head may do harm, or bring back more than was lost. {_shown(e)}",
    also=(patched(share=_kept_within(0, None)), patched(share=_kept_within(None, 1))),
)(patched(share=_kept_within(0, 1)))


TASK = Task(
    "Patching a head",
    patch_heads,
    PATCH,
    (Part("Of the lead, the share that each head brings back.", 4, matches("shares")),),
)
