"""Judges 11/circuits: what a head matches (QK) and what it copies (OV), token by token."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_judges.ch11_looking_inside.sections import CIRCUITS
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.quoting import farthest, ratio
from course_judges.wording import unwrapped

Pair = tuple[Tensor, Tensor]


def circuits(
    embedding: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    unembedding: Tensor,
) -> Pair:
    """A right answer to 11/circuits: the QK and the OV circuit, (V, V) each."""
    qk = _scores(embedding, embedding, query, key)
    ov = embedding @ value.T @ output.T @ unembedding.T  # (V, C) → (V, D) → (V, C) → (V, V)
    return qk, ov


def _scores(asking: Tensor, asked: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """What each row of one matrix (V, C) finds in those of another one."""
    return (asking @ query.T) @ (asked @ key.T).T / math.sqrt(len(query))  # (V, D) @ (D, V)


def _changed(change: Callable[[Pair, tuple[Tensor, ...]], Pair]) -> Callable[..., Pair]:
    """The right pair, changed; the change sees what was given, too."""
    return lambda *given: change(circuits(*given), given)


def _qk(evidence: Evidence) -> str:
    return f"QK: {farthest(evidence, 'circuits.qk')}"


def _ov(evidence: Evidence) -> str:
    return f"OV: {farthest(evidence, 'circuits.ov')}"


_QK, _OV = ("circuits.qk",), ("circuits.ov",)

_exchanged = mistake(
    "The two circuits changed places.",
    lambda e: f"QK says where a head looks, and comes first. {_qk(e)}",
    cases=("circuits",),
)(_changed(lambda pair, _: pair[::-1]))

_queries_down_the_columns = mistake(
    "QK is transposed: row i belongs to the token that asks.",
    lambda e: f"Who asks whom matters, because the matrix is not symmetric. {_qk(e)}",
    cases=_QK,
)(_changed(lambda pair, _: (pair[0].T, pair[1])))

_no_scale = mistake(
    "The scores are not divided by √D.",
    lambda e: f"Yours are {ratio(e, 'circuits.qk'):.2f} times as large. {_qk(e)}",
    cases=_QK,
)(_changed(lambda pair, given: (pair[0] * math.sqrt(len(given[1])), pair[1])))

_scale_by_channels = mistake(
    "You divided the scores by √C; a score is a sum of D products.", _qk, cases=_QK
)(_changed(lambda pair, given: (pair[0] * math.sqrt(len(given[1]) / given[1].shape[1]), pair[1])))

_softmaxed = mistake(
    "You took the softmax; the circuit is the scores themselves.",
    lambda e: f"Each row of yours sums to {e.yours('circuits.qk')[0].sum():.3g}. {_qk(e)}",
    cases=_QK,
)(_changed(lambda pair, _: (pair[0].softmax(-1), pair[1])))

_unembedded_keys = mistake(
    "The keys are made from the unembedding; a head reads what the embedding wrote.",
    _qk,
    cases=_QK,
)(_changed(lambda pair, given: (_scores(given[0], given[5], *given[1:3]), pair[1])))

_copies_down_the_columns = mistake(
    "OV is transposed: row i belongs to the token that is looked at, column j to the logit.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, _: (pair[0], pair[1].T)))

_embedding_for_unembedding = mistake(
    "You read the result with the embedding; logits come from the unembedding.", _ov, cases=_OV
)(
    _changed(
        lambda pair, given: (pair[0], given[0] @ given[3].T @ given[4].T @ given[0].T),
    )
)

_unembedding_for_embedding = mistake(
    "You let the head read the unembedding; what it looks at was written by the embedding.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], given[5] @ given[3].T @ given[4].T @ given[5].T)))

_direct_path = mistake(
    "Your OV holds the direct path too: embedding times unembedding, without the head.",
    lambda e: unwrapped(f"""What the stream carries past the head is no part of what the head
    copies. {_ov(e)}"""),
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], pair[1] + given[0] @ given[5].T)))

_key_for_value = mistake(
    "Your OV goes through the key matrix; what a head hands on goes through its values.",
    _ov,
    cases=_OV,
)(
    _changed(
        lambda pair, given: (pair[0], given[0] @ given[2].T @ given[4].T @ given[5].T),
    )
)

_output_before_value = mistake(
    "Your OV goes through the output first, and then through the value; it is the other way round.",
    lambda e: unwrapped(f"""The shapes fit, because (C, D) and (D, C) are each other's transposes.
    The value reads the stream: embedding @ value.T. {_ov(e)}"""),
    cases=_OV,
)(
    _changed(
        lambda pair, given: (pair[0], given[0] @ given[4] @ given[3] @ given[5].T),
    )
)


def _hidden_above(value: float) -> Callable[..., Pair]:
    def change(pair: Pair, _: tuple[Tensor, ...]) -> Pair:
        later = torch.ones_like(pair[0], dtype=torch.bool).triu(1)
        return pair[0].masked_fill(later, value), pair[1]

    return _changed(change)


_causal_mask = mistake(
    "QK has a causal mask; its rows and columns are tokens, not positions.",
    lambda e: f"No token comes before another one, so none hides another. {_qk(e)}",
    cases=_QK,
    also=(_hidden_above(-torch.inf),),
)(_hidden_above(0.0))

_logits_centered = mistake(
    "From each row of your OV its mean is taken away; asked for are the logits themselves.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, _: (pair[0], pair[1] - pair[1].mean(dim=1, keepdim=True))))

_scaled_values = mistake(
    "You divided OV by √D as well; only scores are scaled.",
    lambda e: f"Yours is {ratio(e, 'circuits.ov'):.2f} times as large as it should be. {_ov(e)}",
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], pair[1] / math.sqrt(len(given[1])))))

_qk_in_ov = mistake(
    "QK is part of your OV; what a head copies from a token does not depend on who looks.",
    lambda e: (
        f"OV says what happens when the head looks at token i with all of its weight. {_ov(e)}"
    ),
    cases=_OV,
    also=(
        _changed(lambda pair, _: (pair[0], pair[0] @ pair[1])),
        _changed(lambda pair, _: (pair[0], pair[1] @ pair[0])),
        _changed(lambda pair, _: (pair[0], pair[0] * pair[1])),
        _changed(lambda pair, _: (pair[0], pair[0].softmax(-1) * pair[1])),
    ),
)(_changed(lambda pair, _: (pair[0], pair[0].softmax(-1) @ pair[1])))

_ov_softmaxed = mistake(
    "You took a softmax of each row of OV; asked for is by how much logits rise.",
    _ov,
    cases=_OV,
    also=(_changed(lambda pair, _: (pair[0], pair[1].log_softmax(-1))),),
)(_changed(lambda pair, _: (pair[0], pair[1].softmax(-1))))

_value_twice = mistake(
    "Your OV goes back to the channels through the value; it goes back through the output.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], given[0] @ given[3].T @ given[3] @ given[5].T)))

_output_twice = mistake(
    "Your OV reads the stream through the output matrix; the value reads it.", _ov, cases=_OV
)(_changed(lambda pair, given: (pair[0], given[0] @ given[4] @ given[4].T @ given[5].T)))

_direct_path_taken_away = mistake(
    "You took the direct path, embedding times unembedding, away; your OV never held it.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], pair[1] - given[0] @ given[5].T)))

_unembedded_queries = mistake(
    "The queries are made from the unembedding; a head reads what the embedding wrote.",
    _qk,
    cases=_QK,
)(_changed(lambda pair, given: (_scores(given[5], given[0], *given[1:3]), pair[1])))

_scale_without_the_root = mistake("You divided the scores by D; the scale is √D.", _qk, cases=_QK)(
    _changed(lambda pair, given: (pair[0] / math.sqrt(len(given[1])), pair[1]))
)

_scale_by_tokens = mistake(
    "You divided the scores by √V, the root of the number of tokens; a score is a sum of D "
    "products.",
    _qk,
    cases=_QK,
)(_changed(lambda pair, given: (pair[0] * math.sqrt(len(given[1]) / len(given[0])), pair[1])))

_made_symmetric = mistake(
    "You averaged QK with its transpose; what i gives j need not be what j gives i.",
    _qk,
    cases=_QK,
)(_changed(lambda pair, _: ((pair[0] + pair[0].T) / 2, pair[1])))

_cosines = mistake(
    "Your scores are cosines, of queries and keys of length 1; their own lengths count.",
    _qk,
    cases=_QK,
)(
    _changed(
        lambda pair, given: (
            torch.nn.functional.normalize(given[0] @ given[1].T, dim=-1)
            @ torch.nn.functional.normalize(given[0] @ given[2].T, dim=-1).T,
            pair[1],
        )
    )
)

_normed_embedding = mistake(
    "You normalized the embedding first; this head reads it without a norm.",
    lambda e: f"{_qk(e)} {_ov(e)}",
)(
    lambda embedding, *others: circuits(
        torch.nn.functional.layer_norm(embedding, embedding.shape[-1:]), *others
    )
)


TASK = Task(
    "What a head matches, and what it copies",
    circuits,
    CIRCUITS,
    (
        Part("QK: the score of every pair of tokens.", 2, matches("circuits.qk")),
        Part("OV: what looking at a token does to every logit.", 2, matches("circuits.ov")),
    ),
)
