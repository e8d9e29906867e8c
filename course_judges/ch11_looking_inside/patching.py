"""Judges 11/patching: how much of the difference between two runs each head brings back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch11_looking_inside.ablation import farthest_head
from course_judges.ch11_looking_inside.replacing import heads_right, put, worked_out
from course_judges.ch11_looking_inside.sections import PATCH
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.quoting import farthest_index
from course_judges.wording import number, unwrapped
from course_judges.wrong_arrays.comparisons import compared
from course_tasks.answers import Array
from course_tasks.ch11_looking_inside.shared import CALLS, Pass, Runner
from course_tasks.verdict import Finding

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


def _same_token(evidence: Evidence) -> str:
    """A sentence on a position that holds one token in both texts."""
    clean, corrupted = evidence.inputs["clean"], evidence.inputs["corrupted"]
    same = clean == corrupted
    other_past = np.cumsum(~same, axis=1) > 0
    text, position = (int(n) for n in np.argwhere(same & other_past)[-1])
    return unwrapped(f"""At position {position} of text {text}, for example, both hold token
    {clean[text, position]}. But heads also read earlier positions, so they find something else
    there, and it has to be patched, too. {_shown(evidence)}""")


@mistake(
    "You patch a head only at the positions where the two texts hold different tokens.", _same_token
)
def _only_where_texts_differ(
    run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor
) -> Tensor:
    differs = (clean != corrupted)[:, :, None]  # (B, T, 1)

    def replacement(good: Pass, bad: Pass, layer: int, head: int) -> Tensor:
        return torch.where(differs, good.found[layer, :, head], bad.found[layer, :, head])

    return patched(replacement=replacement)(run, clean, corrupted, right, wrong)


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


def _other_replacements(clean: Pass, bad: Pass) -> dict[str, Array]:
    """What else may be patched, each of a shape that broadcasts to (L, H, B, T, D)."""
    good, own = (one.found.transpose(1, 2) for one in (clean, bad))  # (L, H, B, T, D)
    last, first = own.clone(), own.clone()
    last[:, :, :, -1] = good[:, :, :, -1]
    first[:, :, :, 0] = good[:, :, :, 0]
    made = {
        "what it found in the corrupted run, so nothing changes": own,
        "zeros": torch.zeros_like(own),
        "the difference between what it found in the two runs": good - own,
        "the mean of what it found in the two runs": (good + own) / 2,
        "the sum of what it found in the two runs": good + own,
        "what it found in the clean run, at position 0 only": first,
        "what it found in the clean run, at the last position only": last,
        "what it found at position 0 of the clean text": good[:, :, :, :1],
        "what it found in the first clean text": good[:, :, :1],
        "what it found in another clean text, because their order is reversed": good.flip(2),
        "what it found in the clean run, with the positions reversed": good.flip(3),
        "what it found in the clean run one position before": good.roll(1, dims=3),
        "what it found in the clean run one position after": good.roll(-1, dims=3),
        "what the next head of its layer found in the clean run": good.roll(-1, dims=1),
        "what the head before it found in the clean run": good.roll(1, dims=1),
        "what the head with its number found in layer 0": good[:1],
        "what the head with its number found in the last layer": good[-1:],
        "what head 0 of its layer found in the clean run": good[:, :1],
        "the mean of what all heads of its layer found": good.mean(1, keepdim=True),
    }
    return {name: other.numpy() for name, other in made.items()}


_OTHER_LEADS: dict[str, Lead] = {
    "": lead_of,
    "You read `right` and `wrong` of all pairs in each text, or in a mean of all texts, but each "
    "text has its own.": lambda logits, right, wrong: (
        logits[:, -1].mean(0)[right] - logits[:, -1].mean(0)[wrong]
    ),
    "You took only the logit of `wrong`, not the lead of `right` over it.": (
        lambda logits, right, wrong: -logits[torch.arange(len(right)), -1, wrong]
    ),
    "You added the two logits instead of subtracting that of `wrong`.": (
        lambda logits, right, wrong: (
            logits[torch.arange(len(right)), -1, right]
            + logits[torch.arange(len(right)), -1, wrong]
        )
    ),
    "You read the logits one position before the last.": lambda logits, right, wrong: lead_of(
        logits[:, :-1], right, wrong
    ),
    "You took the lead in the last pair of texts only.": lambda logits, right, wrong: lead_of(
        logits[-1:], right[-1:], wrong[-1:]
    ),
    "You took the lead without its sign.": lambda logits, right, wrong: lead_of(
        logits, right, wrong
    ).abs(),
    "You took the probability of `right` beside `wrong` instead of the lead.": (
        lambda logits, right, wrong: lead_of(logits, right, wrong).sigmoid()
    ),
    "You took a quotient of two probabilities instead of a difference of two logits.": (
        lambda logits, right, wrong: lead_of(logits, right, wrong).exp()
    ),
    "You counted how often `right` is ahead of `wrong` instead of by how much.": (
        lambda logits, right, wrong: (lead_of(logits, right, wrong) > 0).float()
    ),
    "You counted how often `right` has the largest logit.": lambda logits, right, wrong: (  # noqa: ARG005
        (logits[:, -1].argmax(-1) == right).float()
    ),
    "You took the largest of the leads instead of their mean.": lambda logits, right, wrong: (
        lead_of(logits, right, wrong).max()
    ),
    "You took the smallest of the leads instead of their mean.": lambda logits, right, wrong: (
        lead_of(logits, right, wrong).min()
    ),
}

_OTHER_SHARES: dict[str, Share] = {
    "You divided by the corrupted lead instead of by clean − corrupted.": (
        lambda patched, corrupted, clean: (patched - corrupted) / corrupted  # noqa: ARG005
    ),
    "You divided by the patched lead instead of by clean − corrupted.": (
        lambda patched, corrupted, clean: (patched - corrupted) / patched  # noqa: ARG005
    ),
    "You divided by clean + corrupted instead of by clean − corrupted.": (
        lambda patched, corrupted, clean: (patched - corrupted) / (clean + corrupted)
    ),
    "You divided by clean − patched instead of by clean − corrupted.": (
        lambda patched, corrupted, clean: (patched - corrupted) / (clean - patched)
    ),
    "You didn't subtract the corrupted lead from the patched one.": (
        lambda patched, corrupted, clean: patched / (clean - corrupted)
    ),
    "You added the corrupted lead to the patched one instead of subtracting it.": (
        lambda patched, corrupted, clean: (patched + corrupted) / (clean - corrupted)
    ),
    "You subtracted the clean lead from the patched one instead of the corrupted one.": (
        lambda patched, corrupted, clean: (patched - clean) / (clean - corrupted)
    ),
    "You divided only the corrupted lead by clean − corrupted, because brackets are missing.": (
        lambda patched, corrupted, clean: patched - corrupted / (clean - corrupted)
    ),
    "You divided by the clean lead and then subtracted the other, because brackets are missing.": (
        lambda patched, corrupted, clean: (patched - corrupted) / clean - corrupted
    ),
    "You multiplied by clean − corrupted instead of dividing by it.": (
        lambda patched, corrupted, clean: (patched - corrupted) * (clean - corrupted)
    ),
}


def _as_the_calls_show(evidence: Evidence) -> Finding | None:
    """What was patched, and if that is right, what was measured."""
    mine = evidence.shaped("shares", evidence.right("shares").shape)
    if evidence.same("shares"):
        return None
    run = Runner(evidence.inputs)
    texts, others, right, wrong = (
        torch.as_tensor(evidence.inputs[name]) for name in ("clean", "corrupted", "right", "wrong")
    )
    clean, bad = run(texts), run(others)
    found = put(
        evidence,
        "calls",
        clean.found.transpose(1, 2).numpy(),
        lambda: _other_replacements(clean, bad),
        "what it found in the clean run",
        PATCH,
        "corrupted",
    )
    if found is not None or np.isnan(evidence.yours("calls.handed")).any():
        return found
    L, _, H = clean.found.shape[:3]
    mixed = [
        [run(others, {(layer, head): clean.found[layer, :, head]}).logits for head in range(H)]
        for layer in range(L)
    ]

    def shares(lead: Lead, share: Share) -> Array:
        def mean(logits: Tensor) -> Tensor:
            return lead(logits, right, wrong).mean()

        top, bottom = mean(clean.logits), mean(bad.logits)
        return np.array([[float(share(mean(one), bottom, top)) for one in row] for row in mixed])

    work = _worked_out(evidence, [lead_of(one, right, wrong) for one in (clean.logits, bad.logits)])
    for said, lead in _OTHER_LEADS.items():
        if len(texts[0]) == 1 and "before the last" in said:
            continue  # there is none
        if said and close(mine, shares(lead, _share)).all():
            return Finding("other-lead", said, work, PATCH)
    for said, share in _OTHER_SHARES.items():
        if close(mine, shares(lead_of, share)).all():
            return Finding("other-share", said, work, PATCH)
    if compared(mine, evidence.right("shares")) is not None:
        return None  # which says more
    return Finding(
        "other-difference",
        "You patch what you should, so the leads or the share are wrong.",
        work,
        PATCH,
    )


def _worked_out(evidence: Evidence, leads: list[Tensor]) -> str:
    """The share of the head that is farthest off, from its three leads."""
    mine, right = evidence.yours("shares"), evidence.right("shares")
    layer, head = farthest_index(mine, right)
    clean, corrupted = (float(lead.mean()) for lead in leads)
    share = float(right[layer, head])
    mixed = corrupted + share * (clean - corrupted)
    return (
        f"{heads_right(mine, right)}Averaged over the texts, "
        f"{worked_out({'the clean lead': clean, 'the corrupted lead': corrupted})}. With head "
        f"{head} of layer {layer} patched, the lead is {number(mixed, 4)}, so its share is "
        f"{number(share, 4)}, but you return {number(float(mine[layer, head]), 4)}."
    )


TASK = Task(
    "Patching a head",
    patch_heads,
    PATCH,
    (Part("Of the lead, the share that each head brings back.", 4, matches("shares")),),
    uncompared=CALLS,
    properties=(_as_the_calls_show,),
    cases=("shares",),
)
