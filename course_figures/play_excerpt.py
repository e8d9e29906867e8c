"""The text that the page trains on: the beginning of the play, and the losses known of it.

`python -m course_figures.play_excerpt` writes the play and trains the five models on its beginning
in torch (about a minute on one processor core), so that the page can draw how far they come.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import nn

from course_figures import sources
from course_figures.training_run import TRAIN_SHARE
from course_lib.data import Corpus, Vocabulary, play
from course_lib.model import GPT, Bigram, Config, ManyHeads, OneHead, fuse
from course_lib.training import evaluate, fit

CHARACTERS = 180_000
BLOCK_SIZE = 8
STEPS, BATCH_SIZE, RATE = 2_000, 128, 0.01

MODELS: Mapping[str, Callable[[int], nn.Module]] = MappingProxyType(
    {
        "bigram": lambda V: Bigram(V),
        "one head": lambda V: OneHead(V, BLOCK_SIZE, n_embd=24, head_size=16),
        "four heads": lambda V: fuse(ManyHeads(V, BLOCK_SIZE, n_embd=32, n_head=4)),
        "one block": lambda V: fuse(GPT(Config(V, BLOCK_SIZE, n_layer=1, n_head=4, n_embd=32))),
        "four blocks": lambda V: fuse(GPT(Config(V, BLOCK_SIZE, n_layer=4, n_head=4, n_embd=32))),
    }
)
"""The models of the page in torch, by the names that readers choose them by: V to a fresh one."""


def packed(text: str) -> str:
    """A text as the page takes it: deflated, in base64."""
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def excerpt() -> tuple[str, float]:
    """The beginning of the play, and the loss on its validation split that no model can beat."""
    whole = play.write()
    cut = int(TRAIN_SHARE * CHARACTERS)
    return whole.text[:CHARACTERS], whole.floor(slice(cut, CHARACTERS))


def reached(text: str) -> dict[str, float]:
    """How far each model comes in torch: loss on the whole validation split, in nats."""
    vocabulary = Vocabulary.of(text)
    tokens = vocabulary.encode(text)
    cut = int(TRAIN_SHARE * len(tokens))
    splits = {"train": tokens[:cut], "validation": tokens[cut:]}
    corpus = Corpus("play", text, vocabulary, splits)
    losses = {}
    for name, build in MODELS.items():
        torch.manual_seed(0)
        model = build(len(vocabulary))
        rate = 0.1 if name == "bigram" else RATE
        fit(
            model, corpus, steps=STEPS, batch_size=BATCH_SIZE, block_size=BLOCK_SIZE, lr=rate,
            schedule="cosine", evaluate_every=STEPS, progress=False,
        )  # fmt: skip
        losses[name] = round(evaluate(model, corpus.validation, BLOCK_SIZE), 3)
    return losses


def main() -> None:
    """Write the file; see the module's first lines."""
    torch.set_num_threads(1)
    text, floor = excerpt()
    content = {
        "floor": round(floor, 3),
        "reached": reached(text),
        "steps": STEPS,
        "batch": BATCH_SIZE,
        "packed": packed(text),
    }
    sources.PLAY_EXCERPT.write_text(json.dumps(content) + "\n", encoding="utf-8")
    print({key: value for key, value in content.items() if key != "packed"})


if __name__ == "__main__":
    main()
