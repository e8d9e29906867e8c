"""Judges 11/patching: how much of the difference between two runs each head brings back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch11_looking_inside.ablation import farthest_head
from course_judges.ch11_looking_inside.replacing import heads_right, put, worked_out
from course_judges.ch11_looking_inside.sections import PATCH
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.quoting import farthest_index
from course_judges.wording import number, unwrapped
from course_judges.wrong_arrays.comparisons import compared
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


def patch_heads(
    run: Runner, clean: Tensor, corrupted: Tensor, right: Tensor, wrong: Tensor
) -> Tensor:
    """A right answer to 11/patching: the share that each head brings back, (L, H)."""

    def lead(logits: Tensor) -> Tensor:
        rows = torch.arange(len(right))
        end = logits[:, -1]  # the logits at the last position (B, V)
        right_logits, wrong_logits = end[rows, right], end[rows, wrong]  # (B,) each
        each = right_logits - wrong_logits  # the lead in each text (B,)
        return each.mean()

    good, bad = run(clean), run(corrupted)
    top = lead(good.logits)  # the clean lead
    bottom = lead(bad.logits)  # the corrupted lead
    shares = torch.zeros(good.found[:, 0, :, 0, 0].shape)
    for layer, head in np.ndindex(*shares.shape):
        patch = good.found[layer, :, head]  # what you patch (B, T, D)
        mixed = run(corrupted, {(layer, head): patch})
        lifted = lead(mixed.logits)
        risen = lifted - bottom  # how far the lead rises
        way = top - bottom  # the whole way
        shares[layer, head] = risen / way  # the share of a head
    return shares


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


_not_divided = mistake(
    "You return how much the lead rises instead of its share of the whole difference.",
    lambda e: unwrapped(f"""Divide by the difference between the clean lead and the corrupted one.
    {_shown(e)}"""),
)(Like("left-out-the-division-by-the-whole-way-in-the-share-of-a-head"))

_divided_by_the_corrupted_lead = mistake(
    "You divided by the corrupted lead instead of by clean − corrupted.",
    lambda e: f"The whole way is from the corrupted lead to the clean one. {_shown(e)}",
)(Like("used-only-what-should-be-subtracted-from-the-clean-lead-in-the-whole-way"))

_first_position = mistake("You read the logits at position 0 instead of the last one.", _shown)(
    Like("used-0-instead-of-minus-1-in-the-logits-at-the-last-position")
)

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

_logits_averaged = mistake(
    "You averaged the logits over the texts and read `right` and `wrong` of all pairs in the mean.",
    lambda e: f"Each text has its own right and wrong symbol. {_shown(e)}",
)(Like("used-the-mean-over-all-items-of-the-logits-at-the-last-position"))

_mean_of_quotients = mistake(
    "You averaged the shares of single texts, but the leads should be averaged before dividing.",
    lambda e: unwrapped(f"""Otherwise, a text whose two runs hardly differ dominates the mean.
    {_shown(e)}"""),
)(
    patched(
        share=lambda patched, corrupted, clean: ((patched - corrupted) / (clean - corrupted)).mean()
    )
)


_difference_of_probabilities = mistake(
    "You took the lead as a difference of probabilities instead of logits.",
    lambda e: f"A softmax mixes in the logits of all other symbols. {_shown(e)}",
)(Like("applied-a-softmax-to-the-logits-at-the-last-position"))


_lacking_share = mistake(
    "Your share is what is still missing instead of what the head brings back.", _shown
)(Like("exchanged-good-and-bad-in-the-clean-lead-and-the-corrupted-lead"))


def _only_last(clean: Pass, bad: Pass, layer: int, head: int) -> Tensor:
    found = bad.found[layer, :, head].clone()
    found[:, -1] = clean.found[layer, :, head, -1]
    return found


_mean_of_the_texts = mistake(
    "You patched the mean of the clean texts into every text, but each has its own clean text.",
    _shown,
)(Like("used-the-mean-over-all-items-of-what-you-patch"))

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


def _kept_within(low: float | None, high: float | None) -> Share:
    return lambda patched, corrupted, clean: _share(patched, corrupted, clean).clamp(low, high)


_kept_between = mistake(
    "You clipped your shares at 0 or at 1.",
    lambda e: f"A head may do harm, or bring back more than was lost. {_shown(e)}",
    also=(patched(share=_kept_within(0, None)), patched(share=_kept_within(None, 1))),
)(patched(share=_kept_within(0, 1)))


def _as_the_calls_show(evidence: Evidence) -> Finding | None:
    """What was patched."""
    if evidence.same("shares"):
        return None
    clean = Runner(evidence.inputs)(torch.as_tensor(evidence.inputs["clean"]))
    own = clean.found.transpose(1, 2).numpy()
    return put(evidence, "calls", own, "what it found in the clean run", PATCH, "corrupted")


def _worked_out(evidence: Evidence) -> Finding | None:
    """The share of the head that is farthest off, from its three leads."""
    mine, right = evidence.yours("shares"), evidence.right("shares")
    if mine.shape != right.shape or np.isnan(evidence.yours("calls.handed")).any():
        return None
    if compared(mine, right) is not None:
        return None  # which says more
    run = Runner(evidence.inputs)
    clean, corrupted = (
        float(
            lead_of(
                run(torch.as_tensor(evidence.inputs[texts])).logits,
                *(torch.as_tensor(evidence.inputs[name]) for name in ("right", "wrong")),
            ).mean()
        )
        for texts in ("clean", "corrupted")
    )
    layer, head = farthest_index(mine, right)
    share = float(right[layer, head])
    mixed = corrupted + share * (clean - corrupted)
    return Finding(
        "other-difference",
        "You patch what you should, so the leads or the share are wrong.",
        f"{heads_right(mine, right)}Averaged over the texts, "
        f"{worked_out({'the clean lead': clean, 'the corrupted lead': corrupted})}. With head "
        f"{head} of layer {layer} patched, the lead is {number(mixed, 4)}, so its share is "
        f"{number(share, 4)}, but you return {number(float(mine[layer, head]), 4)}.",
        PATCH,
    )


TASK = Task(
    "Patching a head",
    patch_heads,
    PATCH,
    (Part("Of the lead, the share that each head brings back.", 4, matches("shares")),),
    uncompared=CALLS,
    properties=(_as_the_calls_show,),
    examples=(_worked_out,),
    cases=("shares",),
    steps={
        "the logits at the last position": Step("The answer is read at the last position."),
        "the clean lead": Step("It is the lead that the model has when it reads the clean texts."),
        "the corrupted lead": Step("It is what is left of the lead in the corrupted texts."),
        "the lead in each text": Step(
            "The lead is how far the logit of `right` is above that of `wrong`."
        ),
        "what you patch": Step(
            "At each position of each text, a head gets what it found there in the clean run."
        ),
        "how far the lead rises": Step("What counts is the way from the corrupted lead."),
        "the whole way": Step("The whole way is from the corrupted lead to the clean one."),
        "the share of a head": Step("A share of 1 brings back the whole way, and 0 nothing."),
    },
)
