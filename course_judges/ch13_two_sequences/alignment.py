"""Judges 13/alignment: how often each head looks at a word that a target's word comes from."""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
import torch

from course_judges.ch13_two_sequences.scored_heads import Choice, explanations
from course_judges.ch13_two_sequences.sections import LOOKS
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.wording import number, row, unwrapped
from course_tasks.verdict import Finding


def alignment_scores(
    weights: torch.Tensor, links: torch.Tensor, real: torch.Tensor
) -> torch.Tensor:
    """A right answer to 13/alignment: (B, H, T, S), (B, T, S), (B, S) → (H,)."""
    kept = weights.masked_fill(~real[:, None, None], -torch.inf)  # the weights on words
    best = kept.argmax(dim=-1)  # the places with the largest weights (B, H, T)
    choices = links[:, None].expand(-1, weights.shape[1], -1, -1)
    hits = choices.gather(-1, best.unsqueeze(-1)).squeeze(-1)
    linked = links.any(dim=-1)  # the words with a link (B, T)
    right = (hits & linked[:, None]).sum(dim=(0, 2))  # the right words of each head (H,)
    return right / linked.sum()  # your scores (H,)


def _both(evidence: Evidence) -> str:
    case = "padded" if evidence.same("whole") else "whole"
    return unwrapped(f"""Your scores for the {evidence.number("H")} heads are
    {row(evidence.yours(case).reshape(-1)[:4])} instead of {row(evidence.right(case))}.""")


def _linked(evidence: Evidence) -> str:
    made = evidence.inputs["links"].any(axis=-1)
    counts = ", ".join(str(int(n)) for n in made.sum(axis=1))
    return unwrapped(f"""Of {made.shape[1]} rows in each sample, {counts} have a link.
    {_both(evidence)}""")


def _with_padding(evidence: Evidence) -> str:
    return f"{int((~evidence.inputs['real']).sum())} source places are padding. {_both(evidence)}"


def _by_source_words(weights, links, real):
    """(H,): the share of linked source words whose largest weight is from a linked target word."""
    best = weights.argmax(dim=2, keepdim=True)  # (B, H, 1, S)
    hits = links[:, None].expand(weights.shape).gather(2, best)[:, :, 0]
    made = (links.any(dim=1) & real)[:, None]
    return (hits & made).sum(dim=(0, 2)) / made.sum()


@mistake(
    "You leave out words for which a head looks most at padding instead of only the padding.",
    _with_padding,
)
def _padding_lookers_left_out(weights, links, real):
    best = weights.argmax(dim=-1, keepdim=True)  # (B, H, T, 1)
    shape = weights.shape
    counts = real[:, None, None].expand(shape).gather(-1, best)[..., 0] & links.any(-1)[:, None]
    right = links[:, None].expand(shape).gather(-1, best)[..., 0] & counts
    return right.sum(dim=(0, 2)) / counts.sum(dim=(0, 2)).clamp(min=1)


@mistake(
    "You ask for each source word which target word looks at it most.",
    lambda e: f"{_both(e)} Ask for each word of the target, which is a row, where it looks most.",
    also=(lambda weights, links, real: _by_source_words(weights, links, torch.ones_like(real)),),
)
def _source_words_asked(weights, links, real):
    return _by_source_words(weights, links, real)


_CASES = (("whole", "unpadded"), ("padded", "real"))


def _explained(evidence: Evidence, count: int) -> list[tuple[Choice, ...]]:
    """The choices, `count` at a time, with which a right answer has all scores of this one."""
    calls = []
    for case, real in _CASES:
        names = {"weights": "weights", "links": "links", "real": real}
        arguments = {name: torch.from_numpy(evidence.inputs[of]) for name, of in names.items()}
        calls.append((arguments, evidence.shaped(case, evidence.right(case).shape)))
    return explanations(calls, count)


def _ways(evidence: Evidence) -> str:
    """What one other choice explains all scores; several may give the same in this draw."""
    found = [choice.says for (choice,) in _explained(evidence, 1)]
    if len(found) == 1:
        return found[0]
    return (
        f"Either {' or '.join(_begins_small(says.split('. ')[0].rstrip('.')) for says in found)}."
    )


@mistake(
    _ways,
    lambda e: f"With that alone, a right answer has exactly your scores. {_linked(e)}",
    recognized=lambda e: bool(_explained(e, 1)),
)
def _other_choice(weights, links, real):
    kept = weights * real[:, None, None]
    return ((kept * links[:, None]).sum(-1) > 0.5 * kept.sum(-1)).sum(dim=(0, 2)) / links.any(
        -1
    ).sum()


def _other_choices(evidence: Evidence) -> Finding | None:
    """Which two other choices explain all scores."""
    for one, other in _explained(evidence, 2):
        return Finding(
            "other-choices",
            one.says,
            f"Besides, {_begins_small(other.says)} With both, a right answer has exactly your "
            f"scores. {_linked(evidence)}",
            LOOKS,
        )
    return None


def _begins_small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _worked_out(evidence: Evidence) -> Finding | None:
    """How many words count, and how many of them are right for head 0."""
    case = "padded" if evidence.same("whole") else "whole"
    mine, right = evidence.shaped(case, evidence.right(case).shape), evidence.right(case)
    if np.ptp(mine / np.maximum(right, 1e-9)) < 1e-3 or np.ptp(mine + right) < 1e-3:
        return None  # saying that one factor or 1 minus all explains it tells more
    count = int(evidence.inputs["links"].any(axis=-1).sum())
    return Finding(
        "other-shares",
        "Your scores aren't the shares of words whose largest weight is on a link.",
        f"{count} words have a link. For {round(float(right[0]) * count)} of them, the largest "
        "weight "
        f"of head 0 on real source words is on a link, so its score is "
        f"{number(float(right[0]))}, but yours is {number(float(mine[0]))}. {_both(evidence)}",
        LOOKS,
    )


TASK = Task(
    "Which head aligns?",
    alignment_scores,
    LOOKS,
    (
        Part("Without padding, every head has the right score.", 2, matches("whole")),
        Part("Padding is left out first.", 2, matches("padded")),
    ),
    properties=(_other_choices,),
    examples=(_worked_out,),
    steps={
        "the weights on words": Step(
            "Padding is left out before the largest weight is looked for."
        ),
        "the places with the largest weights": Step("Row t holds the weights of word t."),
        "the words with a link": Step(
            "Only words with a link count, however many links they have."
        ),
        "the right words of each head": Step("Words of all samples and positions count alike."),
        "your scores": Step("A score is the share of words with a link that are right."),
    },
)
