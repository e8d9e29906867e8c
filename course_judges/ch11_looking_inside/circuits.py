"""Judges 11/circuits: what a head matches (QK) and what it copies (OV), token by token."""

from __future__ import annotations

import math
from collections.abc import Callable

from torch import Tensor

from course_judges.ch11_looking_inside.sections import CIRCUITS
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
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
    D = query.shape[0]  # D
    asks = embedding @ query.T  # your queries (V, D)
    holds = embedding @ key.T  # your keys (V, D)
    products = asks @ holds.T  # the products of queries and keys (V, V)
    qk = products / math.sqrt(D)  # your QK (V, V)
    read = embedding @ value.T  # your values (V, D)
    written = read @ output.T  # what the head writes (V, C)
    ov = written @ unembedding.T  # your OV (V, V)
    return qk, ov


def _changed(change: Callable[[Pair, tuple[Tensor, ...]], Pair]) -> Callable[..., Pair]:
    """An answer that changes the right pair; the change also gets what the answer was given."""
    return lambda *given: change(circuits(*given), given)


def _qk(evidence: Evidence) -> str:
    return _off(evidence, "qk")


def _ov(evidence: Evidence) -> str:
    return _off(evidence, "ov")


def _off(evidence: Evidence, circuit: str) -> str:
    said = farthest(evidence, f"circuits.{circuit}")
    return said and f"In {circuit.upper()}, {said[0].lower()}{said[1:]}"


_QK, _OV = ("circuits.qk",), ("circuits.ov",)


_queries_down_the_columns = mistake(
    "Your QK is transposed.",
    lambda e: unwrapped(f"""{_ASKS} Did you exchange query and key, or transpose the product?
    {_qk(e)}"""),
    cases=_QK,
)(Like("exchanged-query-and-key-in-your-queries-and-your-keys"))

_no_scale = mistake(
    "You didn't divide the scores by √D.",
    lambda e: f"They are {ratio(e, 'circuits.qk'):.2f} times too large. {_qk(e)}",
    cases=_QK,
)(Like("left-out-the-division-by-root-of-D-in-your-QK"))

_scale_by_channels = mistake(
    "You divided the scores by √C instead of √D.",
    lambda e: f"A score is a sum of D products. {_qk(e)}",
    cases=_QK,
)(Like("used-the-length-of-axis-0-of-output-for-D"))

_softmaxed = mistake(
    "You took a softmax in QK, but the circuit consists of the scores themselves.",
    lambda e: unwrapped(f"""The circuit compares all tokens of the vocabulary, and a softmax comes
    only after the scores of a text's positions. {_qk(e)}"""),
    cases=_QK,
)(Like("applied-a-softmax-to-your-QK"))

_causal_mask = mistake(
    "You put a causal mask on QK, but its rows and columns are tokens, not positions.",
    lambda e: f"Tokens in a vocabulary don't come before or after each other. {_qk(e)}",
    cases=_QK,
)(Like("set-what-lies-above-the-diagonal-of-the-products-of-queries-and-keys-to-0"))

_scaled_values = mistake(
    "You divided OV by √D as well, but only scores are scaled.",
    lambda e: f"It is {ratio(e, 'circuits.ov'):.2f} times as large as it should be. {_ov(e)}",
    cases=_OV,
)(Like("divided-your-values-by-the-root-of-D"))


_direct_path = mistake(
    "You added the direct path, embedding times unembedding, to OV.",
    lambda e: unwrapped(f"""What the stream carries past the head isn't part of what the head
    copies. {_ov(e)}"""),
    cases=_OV,
)(Like("added-embedding-to-what-the-head-writes"))

_output_before_value = mistake(
    "Your OV multiplies the embedding by the output matrix first and then by the value matrix.",
    lambda e: unwrapped(f"""The shapes fit anyway, because value is (D, C) and output is (C, D). But
    it is the value that reads the stream: `embedding @ value.T`. If you used the product
    `output @ value`, it is meant for columns, so rows need its transpose. {_ov(e)}"""),
    cases=_OV,
)(
    _changed(
        lambda pair, given: (pair[0], given[0] @ given[4] @ given[3] @ given[5].T),
    )
)


_ASKS = "Row i belongs to the token that asks, and column j to the token that is looked at."

TASK = Task(
    "What a head matches, and what it copies",
    circuits,
    CIRCUITS,
    (
        Part("QK: the score of every pair of tokens.", 2, matches("circuits.qk")),
        Part("OV: what looking at a token does to every logit.", 2, matches("circuits.ov")),
    ),
    steps={
        "D": Step("A score is a sum of D products, and D is the number of rows of the query."),
        "your queries": Step("The query matrix reads what the embedding wrote."),
        "your keys": Step("The key matrix reads what the embedding wrote."),
        "the products of queries and keys": Step(_ASKS),
        "your QK": Step("The circuit consists of the scores themselves, divided by √D."),
        "your values": Step("The value matrix reads what the embedding wrote."),
        "what the head writes": Step("The output matrix leads from the head to the stream."),
        "your OV": Step("The unembedding makes logits of what the head writes, and nothing else."),
    },
)
