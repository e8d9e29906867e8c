"""How the scale of the scores and the number of heads change what a model of one layer learns.

    python -m benchmarks.attention                  # both questions, three seeds, minutes
    python -m benchmarks.attention --seeds 1 --only scales

**Scales** (chapter 05). The scores of one head are divided by the root of the head size, by the
root of the number of channels, or by nothing. What an unscaled head loses could be the fault of a
learning rate that suits the other two, so each scale is trained at every rate of a grid.

**Heads** (chapter 06). The same channels are cut into more and more heads, with the same number of
parameters. Here, too, each number of heads is trained at every rate of a grid.

All trainings of one question differ in what is compared, in the rate and in the seed, and in
nothing else. Rows are written to `results/attention.json` after each training, and what is there is
not measured again.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from benchmarks.measuring import RESULTS, write_results
from course_lib import data, schedules
from course_lib.data import Corpus
from course_lib.model import Head, ManyHeads, OneHead, fuse
from course_lib.training import fit

NAME = "attention"
Row: TypeAlias = tuple[dict[str, Any], Callable[[], dict[str, float]]]
C, D = 24, 16  # one head of chapter 05
SCALES = {"none": 1.0, "1/√D": D**-0.5, "1/√C": C**-0.5}
SCALES_RATES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
SCALES_STEPS = 800
HEADS = (1, 2, 4, 8, 16)
HEADS_RATES = (0.01, 0.02)
HEADS_STEPS = 750


class ScaledHead(Head):
    """A head whose scores are multiplied by any number.

    Parameters
    ----------
    n_embd, head_size, block_size : int
        As for `Head`.
    scale : float
        Takes the place of 1/√D.
    """

    def __init__(self, n_embd: int, head_size: int, block_size: int, scale: float):
        super().__init__(n_embd, head_size, block_size)
        self.scale = scale

    def weights(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, T), rows sum to 1."""
        T = x.shape[1]
        scores = self.query(x) @ self.key(x).transpose(1, 2) * self.scale  # (B, T, T)
        return scores.masked_fill(~self.past[:T, :T], -torch.inf).softmax(dim=-1)


def train(model: nn.Module, corpus: Corpus, steps: int, lr: float, seed: int) -> float:
    """Validation loss after the training of chapters 05 and 06."""
    history = fit(
        model, corpus, steps=steps, lr=lr, batch_size=128, betas=(0.9, 0.95), weight_decay=0.0,
        schedule=schedules.one_cycle(0.15), evaluate_every=steps, seed=seed, progress=False,
    )  # fmt: skip
    return history.validation


def scaled_rows(corpus: Corpus, seeds: int) -> Iterator[Row]:
    """One head: what is compared, and the training that measures it."""
    V = len(corpus.vocabulary)
    x = data.evaluation_windows(corpus.validation, 8)[0][:4000]  # (N, T)

    def measure(scale: float, lr: float, seed: int) -> dict[str, float]:
        torch.manual_seed(seed)
        model = OneHead(V, 8, C, D)
        head = ScaledHead(C, D, 8, scale)
        head.load_state_dict(model.head.state_dict())
        model.head = head
        loss = train(model, corpus, SCALES_STEPS, lr, seed)
        with torch.no_grad():
            on_itself = head.weights(model.embedding(x))[:, -1, -1].mean().item()
        return {"loss": round(loss, 4), "on_itself": round(on_itself, 3)}

    for lr in SCALES_RATES:
        for name, scale in SCALES.items():
            for seed in range(seeds):
                row = {"C": C, "D": D, "scale": name, "lr": lr, "seed": seed}
                yield row | {"steps": SCALES_STEPS}, partial(measure, scale, lr, seed)


def many_rows(corpus: Corpus, seeds: int) -> Iterator[Row]:
    """Many heads: what is compared, and the training that measures it."""
    V = len(corpus.vocabulary)

    def measure(H: int, lr: float, seed: int) -> dict[str, float]:
        torch.manual_seed(seed)
        model = fuse(ManyHeads(V, block_size=8, n_embd=32, n_head=H))
        return {"loss": round(train(model, corpus, HEADS_STEPS, lr, seed), 4)}

    for lr in HEADS_RATES:
        for H in HEADS:
            for seed in range(seeds):
                row = {"heads": H, "head_size": 32 // H, "lr": lr, "seed": seed}
                yield row | {"steps": HEADS_STEPS}, partial(measure, H, lr, seed)


QUESTIONS = {"scales": scaled_rows, "heads": many_rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", choices=QUESTIONS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = data.load("shakespeare", fallback=False)
    path = RESULTS / f"{NAME}.json"
    stored = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}
    for question, rows in QUESTIONS.items():
        if options.only not in (None, question):
            continue
        found = stored.setdefault(question, [])
        for row, measure in rows(corpus, options.seeds):
            if any(row.items() <= known.items() for known in found):
                continue
            found.append(row | measure())
            print(found[-1], flush=True)
            if not math.isfinite(found[-1]["loss"]):
                raise ArithmeticError(f"the loss is not finite: {found[-1]}")
            write_results(NAME, stored)


if __name__ == "__main__":
    main()
