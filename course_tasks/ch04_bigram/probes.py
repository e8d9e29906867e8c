"""What the tasks of chapter 04 ask: inputs and calls, no answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_tasks.answers import Array
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe
from course_tasks.stand_ins import CERTAIN, Dice

# Rows that share one distribution: enough that chance and mistake cannot be taken for each other,
# few enough that a Python loop over them takes a fraction of a second.
DRAWS = 3000


def _pair(result: Any, first: str, second: str) -> dict[str, Any]:
    """Two values by name; refuses anything else in words that a student can use."""
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise TypeError(
            f"the function should return two values, `{first}` and `{second}`; "
            f"it returned one {type(result).__name__}"
            + (f" of {len(result)}" if isinstance(result, tuple | list) else "")
        )
    return {first: result[0], second: result[1]}


# --- probabilities --------------------------------------------------------------------------------


def _followed(tokens: Array, V: int) -> Array:
    """(V,) How often each symbol has a successor in its own row."""
    return np.bincount(tokens[:, :-1].ravel(), minlength=V)


def _probabilities_inputs(rng: Rng) -> Inputs:
    V = int(rng.integers(4, 7))
    B = int(rng.choice([b for b in (3, 4, 5) if b != V]))
    T = int(rng.integers(10, 14))
    while True:
        # Some symbols are more frequent than others, as in any text.
        complete = rng.choice(V, size=(B, T), p=_uneven(rng, V))
        # A pair that comes twice shows whether every occurrence is counted, the ends of the rows
        # whether pairs are taken across them.
        pairs = np.stack([complete[:, :-1].ravel(), complete[:, 1:].ravel()], axis=1)
        repeated = len(np.unique(pairs, axis=0)) < len(pairs)
        if _followed(complete, V).all() and repeated:
            break
    # One symbol never stands before another one, though it may end a row.
    unseen = int(rng.integers(V))
    others = np.array([v for v in range(V) if v != unseen])
    sparse = others[rng.integers(V - 1, size=(B, T))]
    sparse[0, -1] = unseen
    return {
        "complete": complete.astype(np.int64),
        "sparse": sparse.astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
        "k": number(rng.choice([0.3, 0.5, 0.7, 1.5, 2.0])),
    }


def _uneven(rng: Rng, size: int) -> Array:
    weights = rng.uniform(0.5, 2.0, size)
    return weights / weights.sum()


def _count_without_smoothing(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["complete"]), int(given["V"]), 0.0)


def _count_with_smoothing(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["sparse"]), int(given["V"]), float(given["k"]))


# --- nll ------------------------------------------------------------------------------------------


def _nll_inputs(rng: Rng) -> Inputs:
    V = int(rng.integers(4, 8))
    table = rng.dirichlet(np.full(V, 0.8), size=V)
    table = (table + 0.02) / (1 + 0.02 * V)
    # The shortest text is the most surprising, so that a mean over texts is not one over symbols.
    first, second, third = (int(n) for n in rng.permutation([4, 9, 14]) + rng.integers(0, 3, 3))
    texts: list[Array] = []
    for n in (first, second, third):
        # Texts begin with what would be least likely after the one before: no such step is asked.
        start = int(np.argmin(table[texts[-1][-1]])) if texts else int(rng.integers(V))
        texts.append(_walk(rng, table, start, n, surprising=n == min(first, second, third)))
    return {
        "table": table,
        "first": texts[0],
        "second": texts[1],
        "third": texts[2],
        "long": _walk(rng, table, int(rng.integers(V)), 2500, surprising=False),
        "V": whole(V),
    }


def _walk(rng: Rng, table: Array, start: int, length: int, *, surprising: bool) -> Array:
    """A text that follows the table, or one that always takes the least likely step."""
    V = len(table)
    tokens = [start]
    while len(tokens) < length:
        row = table[tokens[-1]]
        tokens.append(int(np.argmin(row)) if surprising else int(rng.choice(V, p=row)))
    return np.array(tokens, dtype=np.int64)


def _score_short_texts(answer: Any, given: Inputs) -> Any:
    texts = [tensor(given[name]) for name in ("first", "second", "third")]
    return _pair(answer(tensor(given["table"]), texts), "nll", "perplexity")


def _score_long_text(answer: Any, given: Inputs) -> Any:
    long = [tensor(given["long"])]
    return _pair(answer(tensor(given["table"]), long), "nll", "perplexity")


# --- cross-entropy --------------------------------------------------------------------------------


def _cross_entropy_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(2, 4))
    T, V = (int(n) for n in rng.choice([4, 5, 6, 7], size=2, replace=False))
    logits = rng.normal(size=(B, T, V)) * 1.5
    targets = rng.integers(V, size=(B, T))
    ignored = targets.copy()
    ignored[0, 0] = -1
    ignored[0, 1] = -100
    ignored[1, T - 1] = -1
    # The same ones in another batch: two losses cannot agree by chance.
    second_logits = rng.normal(size=(B, T, V)) * 1.5
    spread = logits.copy()
    # One symbol in each row of V is so likely that the others round to a probability of 0.
    np.put_along_axis(spread, rng.integers(V, size=(B, T, 1)), 900.0, axis=-1)
    wrong = int(np.argmin(spread[0, 0]))
    surprised = targets.copy()
    surprised[0, 0] = wrong
    return {
        "logits": logits,
        "targets": targets,
        "ignored": ignored,
        "second_logits": second_logits,
        "shift": number(rng.uniform(800.0, 1000.0)),
        "spread": spread,
        "surprised": surprised,
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
    }


def _loss_plain(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"]), tensor(given["targets"]))


def _loss_ignored(answer: Any, given: Inputs) -> Any:
    return [
        answer(tensor(given[logits]), tensor(given["ignored"]))
        for logits in ("logits", "second_logits")
    ]


def _loss_shifted(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"] + given["shift"]), tensor(given["targets"]))


def _loss_spread(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["spread"]), tensor(given["surprised"]))


# --- sgd-step -------------------------------------------------------------------------------------


def _sgd_inputs(rng: Rng) -> Inputs:
    V = int(rng.integers(6, 9))
    B, T = int(rng.integers(2, 4)), int(rng.integers(4, 6))
    # The symbol V − 1 does not occur in x: its row must stay as it is. A pair that comes twice
    # must count twice.
    x = rng.integers(V - 1, size=(B, T))
    y = rng.integers(V, size=(B, T))
    x[1, :2], y[1, :2] = x[0, :2], y[0, :2]
    return {
        "table": rng.normal(size=(V, V)).astype(np.float32),
        "x": x.astype(np.int64),
        "y": y.astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
        "learning_rate": number(rng.choice([3.0, 4.0, 5.0, 6.0])),
    }


def _descend(answer: Any, given: Inputs, steps: int) -> Any:
    result = answer(
        tensor(given["table"]),
        tensor(given["x"]),
        tensor(given["y"]),
        float(given["learning_rate"]),
        steps,
    )
    return _pair(result, "table", "losses")


def _one_step(answer: Any, given: Inputs) -> Any:
    return _descend(answer, given, 1)


def _three_steps(answer: Any, given: Inputs) -> Any:
    return _descend(answer, given, 3)


# --- sample ---------------------------------------------------------------------------------------


def _sample_inputs(rng: Rng) -> Inputs:
    V = int(rng.integers(5, 8))
    ladder = np.arange(V) * rng.uniform(0.7, 0.9)
    # Two kinds of rows with their symbols in another order: one's best is the other's worst.
    order = rng.permutation(V)
    # One row's logits lie far above the other's: nothing may depend on that.
    kinds = np.stack([ladder[order], ladder[::-1][order]]) + rng.permutation([-2.0, 2.0])[:, None]
    cold = rng.normal(size=(V + 2, V)) * 2
    cold[0] = np.eye(V)[V - 1] * 3
    return {
        "logits": kinds,
        "temperature": number(rng.choice([0.5, 0.55, 1.8, 2.0])),
        "cold": cold,
        "V": whole(V),
        "seed": whole(int(rng.integers(2**31))),
    }


def _seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _sample_many(answer: Any, given: Inputs) -> Any:
    logits = tensor(given["logits"]).repeat(DRAWS, 1)  # (2 · DRAWS, V): kinds take turns
    return answer(logits, float(given["temperature"]), _seeded(int(given["seed"])))


def _sample_cold(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["cold"]), 0.0, _seeded(int(given["seed"])))


def _sample_again(answer: Any, given: Inputs) -> Any:
    # Flat logits, so that two independent draws of 60 rows cannot agree by chance.
    logits = torch.zeros(60, int(given["V"]), dtype=torch.float64)
    generator = _seeded(int(given["seed"]))
    return {
        "first": answer(logits, 1.0, generator),
        "second": answer(logits, 1.0, generator),
        "repeated": answer(logits, 1.0, _seeded(int(given["seed"]))),
        **{
            f"other_seed_{n}": answer(logits, 1.0, _seeded(int(given["seed"]) + n))
            for n in (1, 2, 3)
        },
    }


# --- generate -------------------------------------------------------------------------------------


class Clockwork(nn.Module):
    """A language model whose next symbol is certain and depends on every token it is shown.

    Parameters
    ----------
    wheels : (block_size,) int
        By how much a token at each position turns the clock.
    vocab_size : int
        V.

    In training mode it is off by one, as dropout would put a real model off.
    """

    def __init__(self, wheels: Tensor, vocab_size: int):
        super().__init__()
        self.wheels = wheels
        self.vocab_size = vocab_size
        self.block_size = len(wheels)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, None]:  # noqa: ARG002
        """Logits (B, T, V) of the next symbol, and no loss."""
        T = tokens.shape[1]
        if T > self.block_size:
            raise IndexError(
                f"the context holds {T} tokens, the model has positions for {self.block_size}"
            )
        # The 1 moves the clock at every position: no token is one that may as well be missing.
        turned = ((tokens + 1) * self.wheels[:T] + 1).cumsum(dim=1) + int(self.training)  # (B, T)
        certain = nn.functional.one_hot(turned % self.vocab_size, self.vocab_size)  # (B, T, V)
        return certain * CERTAIN, None


def _generate_inputs(rng: Rng) -> Inputs:
    V = int(rng.choice([11, 13, 17]))
    B, block_size = int(rng.integers(2, 4)), int(rng.integers(5, 8))
    T = int(rng.integers(2, 4))
    return {
        "wheels": rng.permutation(np.arange(1, V))[:block_size].astype(np.int64),
        "prompt": rng.integers(V, size=(B, T)).astype(np.int64),
        "long_prompt": rng.integers(V, size=(B, block_size + 3)).astype(np.int64),
        "dice": rng.permutation(np.arange(5) * rng.uniform(0.5, 0.7)),
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
        "block_size": whole(block_size),
        "seed": whole(int(rng.integers(2**31))),
    }


def _generate(
    answer: Any, given: Inputs, prompt: str, count: int, *, training: bool = False
) -> dict[str, Any]:
    model = Clockwork(tensor(given["wheels"]), int(given["V"])).train(training)
    tokens = answer(model, tensor(given[prompt]), count, _seeded(int(given["seed"])))
    return {"tokens": tokens, "training_afterwards": model.training}


def _generate_short(answer: Any, given: Inputs) -> Any:
    # The last symbol is drawn from a context of at most block_size − 1 tokens.
    count = int(given["block_size"]) - int(given["T"])
    return _generate(answer, given, "prompt", count)["tokens"]


def _generate_beyond(answer: Any, given: Inputs) -> Any:
    return _generate(answer, given, "prompt", 12)["tokens"]


def _generate_long_prompt(answer: Any, given: Inputs) -> Any:
    return _generate(answer, given, "long_prompt", 10)["tokens"]


def _generate_in_training(answer: Any, given: Inputs) -> Any:
    count = int(given["block_size"]) - int(given["T"])
    trained = _generate(answer, given, "prompt", count, training=True)
    kept = _generate(answer, given, "prompt", count, training=False)
    return trained | {"evaluation_kept": not kept["training_afterwards"]}


def _generate_by_chance(answer: Any, given: Inputs) -> Any:
    model = Dice(tensor(given["dice"])).eval()
    prompt = torch.zeros(DRAWS, 1, dtype=torch.int64)
    seed = int(given["seed"])
    few = torch.zeros(60, 1, dtype=torch.int64)
    return {
        "tokens": answer(model, prompt, 2, _seeded(seed)),
        "first": answer(model, few, 2, _seeded(seed)),
        "repeated": answer(model, few, 2, _seeded(seed)),
    }


PROBES: dict[str, Probe] = {
    "probabilities": Probe(
        _probabilities_inputs,
        {"counted": _count_without_smoothing, "smoothed": _count_with_smoothing},
    ),
    "nll": Probe(_nll_inputs, {"short": _score_short_texts, "long": _score_long_text}),
    "cross-entropy": Probe(
        _cross_entropy_inputs,
        {
            "plain": _loss_plain,
            "ignored": _loss_ignored,
            "shifted": _loss_shifted,
            "spread": _loss_spread,
        },
    ),
    "sgd-step": Probe(_sgd_inputs, {"one": _one_step, "three": _three_steps}),
    "sample": Probe(
        _sample_inputs, {"many": _sample_many, "cold": _sample_cold, "seeded": _sample_again}
    ),
    "generate": Probe(
        _generate_inputs,
        {
            "short": _generate_short,
            "beyond": _generate_beyond,
            "long": _generate_long_prompt,
            "training": _generate_in_training,
            "chance": _generate_by_chance,
        },
    ),
}
