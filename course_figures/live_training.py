"""Trains the model that lives in the page.

`python -m course_figures.live_training` trains it anew (about three minutes on one processor core,
where Tiny Shakespeare is at hand) and writes the file that pages and notebooks read, and the figure
as the first page holds it. On the same machine it gives the same weights again.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from course_figures.first_screen import MARKUP, FirstScreen
from course_figures.live_weights import WEIGHTS, keep, pack, unpack
from course_lib import schedules
from course_lib.data import Corpus, load
from course_lib.model import GPT, Config, fuse
from course_lib.training import History, evaluate, fit

STEPS = 2500
BLOCK_SIZE, N_LAYER, N_HEAD, N_EMBD = 64, 3, 4, 64
SEED = 1337


def train(corpus: Corpus, steps: int = STEPS, *, progress: bool = True) -> tuple[GPT, History]:
    """Train the live model.

    Parameters
    ----------
    corpus : Corpus
        Its text and vocabulary.
    steps : int
        Batches of 64 windows of 64 tokens.
    progress : bool
        Show a bar.

    Returns
    -------
    (GPT, History)
        The fused model in evaluation mode, and what happened.
    """
    torch.manual_seed(SEED)
    config = Config(len(corpus.vocabulary), BLOCK_SIZE, N_LAYER, N_HEAD, N_EMBD)
    model = fuse(GPT(config))
    history = fit(
        model,
        corpus,
        steps=steps,
        batch_size=64,
        optimizer="muon",
        lr=4e-3,
        muon_lr=0.03,
        schedule=schedules.linear(warm_up=min(50, steps // 4)),
        seed=SEED,
        progress=progress,
    )
    assert isinstance(model, GPT)
    return model.eval(), history


def write_weights(path: Path, model: GPT, corpus: Corpus, steps: int) -> dict[str, Any]:
    """Round a trained model, measure what is left of it, and keep both in one file.

    Parameters
    ----------
    path : Path
        Replaced when the new file is complete.
    model : GPT
        Fused; takes the rounded weights, in place.
    corpus : Corpus
        What it was trained on.
    steps : int
        How long.

    Returns
    -------
    dict
        The facts in the file: `corpus`, `corpus_sha256`, `vocabulary`, `steps`, `seed`,
        `validation_loss` (nats, of the rounded weights), `exact_validation_loss`, `digest`,
        `model`.
    """
    exact = evaluate(model, corpus.validation, BLOCK_SIZE)
    packed = pack(model)
    model.load_state_dict(unpack(packed))
    facts = {
        "corpus": corpus.name,
        "corpus_sha256": hashlib.sha256(corpus.text.encode()).hexdigest(),
        "vocabulary": "".join(corpus.vocabulary.symbols),
        "steps": steps,
        "seed": SEED,
        "validation_loss": evaluate(model, corpus.validation, BLOCK_SIZE),
        "exact_validation_loss": exact,
    }
    return keep(path, packed, model, facts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and write; see the module's first lines."""
    parser = argparse.ArgumentParser(description="Train the model that lives in the page.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--output", type=Path, default=WEIGHTS)
    parser.add_argument("--markup", action="store_true", help="only the first page's figure again")
    options = parser.parse_args(arguments)
    if not options.markup:
        torch.set_num_threads(1)  # with more, sums are taken in another order and rounded otherwise
        corpus = load("shakespeare", fallback=False)
        model, history = train(corpus, options.steps)
        facts = write_weights(options.output, model, corpus, options.steps)
        print(history)
        print(
            f"{options.output.name}: {options.output.stat().st_size:,} bytes, validation loss "
            f"{facts['validation_loss']:.4f} ({facts['exact_validation_loss']:.4f} before rounding)"
        )
    if options.output == WEIGHTS:
        MARKUP.write_text(FirstScreen().html() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
