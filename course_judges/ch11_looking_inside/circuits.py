"""Judges 11/circuits: what a head matches (QK) and what it copies (OV), token by token."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch11_looking_inside.sections import CIRCUITS
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.quoting import farthest, ratio
from course_judges.wording import unwrapped
from course_tasks.ch11_looking_inside.circuits import GIVEN
from course_tasks.verdict import Finding

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
    """(V, V) the score that each row of `asking` (V, C) gives to each row of `asked`."""
    return (asking @ query.T) @ (asked @ key.T).T / math.sqrt(len(query))  # (V, D) @ (D, V)


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

_exchanged = mistake(
    "You returned the two circuits in the wrong order.",
    lambda e: f"QK, which says where a head looks, comes first. {_qk(e)}",
    cases=("circuits",),
)(_changed(lambda pair, _: pair[::-1]))

_queries_down_the_columns = mistake(
    "Your QK is transposed.",
    lambda e: unwrapped(f"""Row i should belong to the token that asks, and column j to the token
    that is looked at. Did you exchange query and key, or transpose the product? {_qk(e)}"""),
    cases=_QK,
)(_changed(lambda pair, _: (pair[0].T, pair[1])))

_no_scale = mistake(
    "You didn't divide the scores by √D.",
    lambda e: f"They are {ratio(e, 'circuits.qk'):.2f} times too large. {_qk(e)}",
    cases=_QK,
)(_changed(lambda pair, given: (pair[0] * math.sqrt(len(given[1])), pair[1])))

_scale_by_channels = mistake(
    "You divided the scores by √C instead of √D.",
    lambda e: f"A score is a sum of D products. {_qk(e)}",
    cases=_QK,
)(_changed(lambda pair, given: (pair[0] * math.sqrt(len(given[1]) / given[1].shape[1]), pair[1])))

_softmaxed = mistake(
    "You took a softmax in QK, but the circuit consists of the scores themselves.",
    lambda e: unwrapped(f"""The circuit compares all tokens of the vocabulary, and a softmax comes
    only after the scores of a text's positions. {_qk(e)}"""),
    cases=_QK,
    also=(
        _changed(lambda pair, _: (pair[0].softmax(0), pair[1])),
        _changed(lambda pair, _: (pair[0].log_softmax(-1), pair[1])),
    ),
)(_changed(lambda pair, _: (pair[0].softmax(-1), pair[1])))

_unembedded_keys = mistake(
    "You made the keys from the unembedding, but a head reads what the embedding wrote.",
    _qk,
    cases=_QK,
)(_changed(lambda pair, given: (_scores(given[0], given[5], *given[1:3]), pair[1])))

_copies_down_the_columns = mistake(
    "Your OV is transposed.",
    lambda e: unwrapped(f"""Row i should belong to the token that is looked at, and column j to the
    logit. {_ov(e)}"""),
    cases=_OV,
)(_changed(lambda pair, _: (pair[0], pair[1].T)))

_embedding_for_unembedding = mistake(
    "You turned the result into logits with the embedding instead of the unembedding.",
    _ov,
    cases=_OV,
)(
    _changed(
        lambda pair, given: (pair[0], given[0] @ given[3].T @ given[4].T @ given[0].T),
    )
)

_unembedding_for_embedding = mistake(
    "You let the head read the unembedding, but it reads what the embedding wrote.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], given[5] @ given[3].T @ given[4].T @ given[5].T)))

_direct_path = mistake(
    "You added the direct path, embedding times unembedding, to OV.",
    lambda e: unwrapped(f"""What the stream carries past the head isn't part of what the head
    copies. {_ov(e)}"""),
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], pair[1] + given[0] @ given[5].T)))

_key_for_value = mistake(
    "You used the key matrix in OV, but a head passes on what its value matrix reads.",
    _ov,
    cases=_OV,
)(
    _changed(
        lambda pair, given: (pair[0], given[0] @ given[2].T @ given[4].T @ given[5].T),
    )
)

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


def _hidden_above(value: float) -> Callable[..., Pair]:
    def change(pair: Pair, _: tuple[Tensor, ...]) -> Pair:
        later = torch.ones_like(pair[0], dtype=torch.bool).triu(1)
        return pair[0].masked_fill(later, value), pair[1]

    return _changed(change)


_causal_mask = mistake(
    "You put a causal mask on QK, but its rows and columns are tokens, not positions.",
    lambda e: f"Tokens in a vocabulary don't come before or after each other. {_qk(e)}",
    cases=_QK,
    also=(_hidden_above(-torch.inf),),
)(_hidden_above(0.0))

_causal_mask_in_ov = mistake(
    "You put a causal mask on OV, but its rows and columns are tokens, not positions.",
    lambda e: f"Tokens in a vocabulary don't come before or after each other. {_ov(e)}",
    cases=_OV,
)(_changed(lambda pair, _: (pair[0], pair[1].tril())))

_logits_centered = mistake(
    "You subtracted the mean from each row of OV, but it should hold the logits themselves.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, _: (pair[0], pair[1] - pair[1].mean(dim=1, keepdim=True))))

_scores_centered = mistake(
    "You subtracted the mean from each row of QK, but it should hold the scores themselves.",
    _qk,
    cases=_QK,
)(_changed(lambda pair, _: (pair[0] - pair[0].mean(dim=1, keepdim=True), pair[1])))

_mean_token_subtracted = mistake(
    "You subtracted from OV what a mean token does to each logit.",
    lambda e: f"Row i should hold how much the logits rise by token i alone. {_ov(e)}",
    cases=_OV,
)(_changed(lambda pair, _: (pair[0], pair[1] - pair[1].mean(dim=0))))


def _written(given: tuple[Tensor, ...]) -> Tensor:
    """(V, C) what the head writes into the stream for each token."""
    return given[0] @ given[3].T @ given[4].T


_written_normed = mistake(
    "You normalized what the head writes before the unembedding.",
    lambda e: f"OV has no norm, neither before the head nor after it. {_ov(e)}",
    cases=_OV,
)(
    _changed(
        lambda pair, given: (
            pair[0],
            torch.nn.functional.layer_norm(_written(given), given[0].shape[1:]) @ given[5].T,
        )
    )
)

_cosines_in_ov = mistake(
    "You normalized what the head writes or the unembedding to length 1 in OV.",
    lambda e: f"A logit is a product in which both keep their lengths, not a cosine. {_ov(e)}",
    cases=_OV,
    also=(
        _changed(
            lambda pair, given: (
                pair[0],
                _written(given) @ torch.nn.functional.normalize(given[5], dim=-1).T,
            )
        ),
        _changed(
            lambda pair, given: (
                pair[0],
                torch.nn.functional.normalize(_written(given), dim=-1) @ given[5].T,
            )
        ),
    ),
)(
    _changed(
        lambda pair, given: (
            pair[0],
            torch.nn.functional.normalize(_written(given), dim=-1)
            @ torch.nn.functional.normalize(given[5], dim=-1).T,
        )
    )
)


def _turned(matrix: Tensor) -> Tensor:
    """The numbers of a matrix (n, m) in rows of another length, (m, n); not its transpose."""
    return matrix.reshape(matrix.shape[::-1])


_RESHAPED = """`reshape` and `view` keep the numbers in their order and cut them into rows of
another length, but `.T` exchanges rows and columns."""

_scores_reshaped = mistake(
    "You used `reshape` or `view` instead of `.T` to bring a factor of QK into shape.",
    lambda e: unwrapped(f"{_RESHAPED} {_qk(e)}"),
    cases=_QK,
    also=(
        _changed(
            lambda pair, given: (
                given[0] @ given[1].T @ given[2] @ _turned(given[0]) / math.sqrt(len(given[1])),
                pair[1],
            )
        ),
        _changed(
            lambda pair, given: (
                given[0] @ _turned(given[1]) @ (given[0] @ given[2].T).T / len(given[1]) ** 0.5,
                pair[1],
            )
        ),
        _changed(
            lambda pair, given: (
                given[0]
                @ _turned(given[1])
                @ (given[0] @ _turned(given[2])).T
                / len(given[1]) ** 0.5,
                pair[1],
            )
        ),
    ),
)(
    _changed(
        lambda pair, given: (
            given[0] @ given[1].T @ _turned(given[0] @ given[2].T) / math.sqrt(len(given[1])),
            pair[1],
        )
    )
)


def _copies_with(*turned: bool) -> Callable[..., Pair]:
    """An OV in which value, output and unembedding are reshaped where they should be transposed."""

    def change(pair: Pair, given: tuple[Tensor, ...]) -> Pair:
        made = given[0]
        for matrix, wrong in zip(given[3:], turned, strict=True):
            made = made @ (_turned(matrix) if wrong else matrix.T)
        return pair[0], made

    return _changed(change)


_copies_reshaped = mistake(
    "You used `reshape` or `view` instead of `.T` to bring a factor of OV into shape.",
    lambda e: unwrapped(f"{_RESHAPED} {_ov(e)}"),
    cases=_OV,
    also=tuple(
        _copies_with(*turned)
        for turned in itertools.product((False, True), repeat=3)
        if any(turned) and turned != (False, False, True)
    ),
)(_copies_with(False, False, True))

_scaled_values = mistake(
    "You divided OV by √D as well, but only scores are scaled.",
    lambda e: f"It is {ratio(e, 'circuits.ov'):.2f} times as large as it should be. {_ov(e)}",
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], pair[1] / math.sqrt(len(given[1])))))

_qk_in_ov = mistake(
    "You used QK in OV, but what a head copies from a token doesn't depend on its scores.",
    lambda e: f"OV says what happens if the head puts all of its weight on token i. {_ov(e)}",
    cases=_OV,
    also=(
        _changed(lambda pair, _: (pair[0], pair[0] @ pair[1])),
        _changed(lambda pair, _: (pair[0], pair[1] @ pair[0])),
        _changed(lambda pair, _: (pair[0], pair[0] * pair[1])),
        _changed(lambda pair, _: (pair[0], pair[0].softmax(-1) * pair[1])),
    ),
)(_changed(lambda pair, _: (pair[0], pair[0].softmax(-1) @ pair[1])))

_ov_softmaxed = mistake(
    "You took a softmax of each row of OV, but it should say how much the logits rise.",
    _ov,
    cases=_OV,
    also=(_changed(lambda pair, _: (pair[0], pair[1].log_softmax(-1))),),
)(_changed(lambda pair, _: (pair[0], pair[1].softmax(-1))))

_value_twice = mistake(
    "You used the value matrix twice in OV, but the output matrix leads back to the stream.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], given[0] @ given[3].T @ given[3] @ given[5].T)))

_output_twice = mistake(
    "You used the output matrix twice in OV, but the value matrix reads the stream.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], given[0] @ given[4] @ given[4].T @ given[5].T)))

_direct_path_taken_away = mistake(
    "You subtracted the direct path, embedding times unembedding, but OV never contained it.",
    _ov,
    cases=_OV,
)(_changed(lambda pair, given: (pair[0], pair[1] - given[0] @ given[5].T)))

_unembedded_queries = mistake(
    "You made the queries from the unembedding, but a head reads what the embedding wrote.",
    _qk,
    cases=_QK,
)(_changed(lambda pair, given: (_scores(given[5], given[0], *given[1:3]), pair[1])))

_scale_without_the_root = mistake("You divided the scores by D instead of √D.", _qk, cases=_QK)(
    _changed(lambda pair, given: (pair[0] / math.sqrt(len(given[1])), pair[1]))
)

_scale_by_tokens = mistake(
    "You divided the scores by √V instead of √D.",
    lambda e: unwrapped(f"""V is the number of tokens, but a score is a sum of D products.
    {_qk(e)}"""),
    cases=_QK,
)(_changed(lambda pair, given: (pair[0] * math.sqrt(len(given[1]) / len(given[0])), pair[1])))

_made_symmetric = mistake(
    "You averaged QK with its transpose, but it doesn't have to be symmetric.",
    lambda e: f"The score that i gives j can differ from the one that j gives i. {_qk(e)}",
    cases=_QK,
)(_changed(lambda pair, _: ((pair[0] + pair[0].T) / 2, pair[1])))

_cosines = mistake(
    "You normalized queries and keys to length 1, so your scores are cosines.",
    lambda e: f"Queries and keys should keep their lengths. {_qk(e)}",
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
    "You normalized the embedding first, but this head reads it without a norm.",
    lambda e: f"{_qk(e)} {_ov(e)}",
)(
    lambda embedding, *others: circuits(
        torch.nn.functional.layer_norm(embedding, embedding.shape[-1:]), *others
    )
)


# The factors of a circuit in their order, and what each of them is for.
_FACTORS = {
    "qk": (
        ("embedding", "The token that asks is read from the embedding."),
        ("query.T", "The token that asks is read by the query matrix."),
        ("key", "The token that is looked at is read by the key matrix."),
        ("embedding.T", "The token that is looked at is read from the embedding, too."),
    ),
    "ov": (
        ("embedding", "The head reads the token from the embedding."),
        ("value.T", "The value matrix reads the stream."),
        ("output.T", "The output matrix leads from the head back to the stream."),
        ("unembedding.T", "The unembedding makes logits of it."),
    ),
}
_TABLES = ("embedding", "unembedding")
_INTO_THE_HEAD = ("query.T", "key.T", "value.T", "output")
_OUT_OF_IT = ("query", "key", "value", "output.T")


def _scales(V: int, C: int, D: int) -> dict[str, float]:
    """By what a product may be multiplied, and how it is written behind the product."""
    made = {"": 1.0}
    for name, length in (("D", D), ("C", C), ("V", V)):
        made |= {
            f" / √{name}": length**-0.5,
            f" / {name}": 1 / length,
            f" · √{name}": length**0.5,
            f" · {name}": float(length),
        }
    return made


def _another_product(evidence: Evidence) -> Finding | None:
    """A product of four of the six matrices, but not the right ones, or with another scale."""
    circuit = "ov" if evidence.same("circuits.qk") else "qk"
    value = f"circuits.{circuit}"
    mine = evidence.shaped(value, evidence.right(value).shape).astype(float)
    given = {
        f"{name}{end}": matrix
        for name in GIVEN
        for matrix in [evidence.inputs[name].astype(float)]
        for end, matrix in (("", matrix), (".T", matrix.T))
    }
    V, C, D = (evidence.number(name) for name in "VCD")
    scales = _scales(V, C, D)
    for factors in itertools.product(
        _TABLES, _INTO_THE_HEAD, _OUT_OF_IT, [f"{name}.T" for name in _TABLES]
    ):
        product = functools.reduce(np.matmul, (given[name] for name in factors))
        times = (mine * product).sum() / (product * product).sum()
        for scaled, scale in scales.items():
            if abs(times - scale) < 1e-3 * scale and close(mine, scale * product).all():
                return _as_a_product(evidence, circuit, factors, scaled)
    return None


def _as_a_product(
    evidence: Evidence, circuit: str, factors: tuple[str, ...], scaled: str
) -> Finding:
    wrong = [
        says
        for factor, (right, says) in zip(factors, _FACTORS[circuit], strict=True)
        if factor != right
    ]
    if scaled != (" / √D" if circuit == "qk" else ""):
        wrong.append("Scores are divided by √D." if circuit == "qk" else "Only scores are scaled.")
    other = "" if evidence.same("circuits.ov") or circuit == "ov" else " Your OV is wrong, too."
    return Finding(
        "another-product",
        f"Your {circuit.upper()} is `{' @ '.join(factors)}{scaled}`.",
        f"{' '.join(wrong)} {_off(evidence, circuit)}{other}".strip(),
        CIRCUITS,
    )


TASK = Task(
    "What a head matches, and what it copies",
    circuits,
    CIRCUITS,
    (
        Part("QK: the score of every pair of tokens.", 2, matches("circuits.qk")),
        Part("OV: what looking at a token does to every logit.", 2, matches("circuits.ov")),
    ),
    properties=(_another_product,),
)
