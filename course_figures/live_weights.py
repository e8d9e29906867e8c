"""The model that lives in the page: its training, its rounded weights, and how to get it back.

`python -m course_figures.live_weights` trains it anew (about three minutes on one processor
core, where Tiny Shakespeare is at hand) and writes the file that pages and notebooks read, and the
figure as the first page holds it. On the same machine it gives the same weights again.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from course_figures import sources
from course_lib import checkpoints, schedules
from course_lib.contexts import evaluation_mode
from course_lib.data import Corpus, Vocabulary, load
from course_lib.errors import CheckpointError, ConfigError
from course_lib.model import GPT, Config, fuse
from course_lib.training import History, evaluate, fit

WEIGHTS = sources.LIVE_WEIGHTS
"""The committed weights: Tiny Shakespeare, at most 600 kB."""

STEPS = 2500
BLOCK_SIZE, N_LAYER, N_HEAD, N_EMBD = 64, 3, 4, 64
SEED = 1337

# The largest int8 of either sign; -128 would make the range lopsided.
LARGEST = 127


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


def quantise(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row to 255 evenly spaced values.

    Parameters
    ----------
    matrix : (m, n) float

    Returns
    -------
    whole : (m, n) int8
        Between -127 and 127.
    scale : (m,) float32
        `whole * scale[:, None]` is the rounded matrix, off by at most half a scale; of a row of
        zeros, 1.
    """
    largest = matrix.abs().amax(dim=1)  # (m,)
    scale = torch.where(largest == 0, 1.0, largest / LARGEST)  # NaN stays NaN, to be seen
    whole = (matrix / scale.unsqueeze(1)).round().clamp(-LARGEST, LARGEST)
    return whole.to(torch.int8), scale.float()


def pack(model: nn.Module) -> dict[str, Tensor]:
    """A fused model's weights as they are stored: matrices as int8 and scales, vectors as they are.

    Returns
    -------
    dict of str to Tensor
        `NAME` and, for a matrix, `NAME.scale`.
    """
    packed: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        if tensor.ndim == 2:
            packed[name], packed[f"{name}.scale"] = quantise(tensor)
        else:
            packed[name] = tensor.float()
    return packed


def unpack(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The rounded weights in float32, the very numbers that the page computes with."""
    return {
        name: tensor.float() * packed[f"{name}.scale"].unsqueeze(1) if tensor.ndim == 2 else tensor
        for name, tensor in packed.items()
        if not name.endswith(".scale")
    }


def digest(packed: Mapping[str, Tensor]) -> str:
    """SHA-256 over names and bytes, in the order of the names."""
    total = hashlib.sha256()
    for name in sorted(packed):
        total.update(name.encode())
        total.update(packed[name].contiguous().numpy().tobytes())
    return total.hexdigest()


def write_packed(path: Path, model: GPT, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a GPT's rounded weights in one file, which the page and `live_model` read.

    Parameters
    ----------
    path : Path
        Replaced when the new file is complete.
    model : GPT
        Plain or fused, of the library or as chapter 08 writes it; it stays as it is.
    facts : mapping
        Kept beside them; `vocabulary` (all symbols in one text) must be there.

    Returns
    -------
    dict
        The facts with `digest` and `model` added.

    Raises
    ------
    ConfigError
        If the model is no GPT, or computes something else than the GPT of the library.
    """
    fused = _library_model(model)
    return _keep(path, pack(fused), fused, facts)


def _library_model(model: nn.Module) -> GPT:
    """The library's fused GPT with the weights of a model, which may be a class of the reader's."""
    name = type(model).__name__
    sizes = getattr(model, "config", None)
    try:
        kept = {field.name: getattr(sizes, field.name) for field in dataclasses.fields(Config)}
    except AttributeError as error:
        raise ConfigError(f"a {name} cannot live in the page: give a GPT") from error
    plain = GPT(Config(**kept))
    weights = model.state_dict()
    ours = fuse(plain) if any("query_key_value" in key for key in weights) else plain
    try:
        ours.load_state_dict(weights)
    except RuntimeError as error:
        raise ConfigError(
            f"this {name} cannot live in the page: its parameters are not those of the GPT of "
            f"chapter 08; {' '.join(str(error).split())}"
        ) from error
    tokens = torch.arange(min(kept["block_size"], kept["vocab_size"])).unsqueeze(0)  # (1, T)
    with evaluation_mode(model), evaluation_mode(ours), torch.inference_mode():
        theirs = model(tokens.to(next(model.parameters()).device))[0].cpu()
        same = torch.allclose(ours(tokens)[0], theirs, rtol=1e-3, atol=1e-3, equal_nan=True)
    if not same:
        raise ConfigError(
            f"this {name} cannot live in the page: from the same weights it computes other logits "
            "than the GPT of chapter 08, which is what the page computes"
        )
    fused = fuse(ours)
    assert isinstance(fused, GPT)
    return fused


def _keep(
    path: Path, packed: Mapping[str, Tensor], fused: nn.Module, facts: Mapping[str, Any]
) -> dict[str, Any]:
    facts = {**facts, "digest": digest(packed), "model": checkpoints.describe_model(fused)}
    checkpoints.write_checkpoint(path, packed, facts)
    return facts


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
    return _keep(path, packed, model, facts)


def live_model(path: Path = WEIGHTS) -> tuple[GPT, Vocabulary, dict[str, Any]]:
    """The model of the page in torch, with the same rounded weights.

    Parameters
    ----------
    path : Path
        A file that `write_weights` wrote.

    Returns
    -------
    model : GPT
        Plain (heads as chapter 06 writes them), in evaluation mode.
    vocabulary : Vocabulary
        Of the text that it was trained on.
    facts : dict
        As `write_weights` returns them.

    Raises
    ------
    CheckpointError
        If the file is missing or damaged, or its weights are not those that its digest names.
    """
    packed, facts = checkpoints.read_checkpoint(path)
    if digest(packed) != facts.get("digest"):
        raise CheckpointError(
            f"{path.name} holds other weights than its digest says: take the file from the course "
            "again, or write it anew with python -m course_figures.live_weights"
        )
    model = GPT(Config(**facts["model"]["config"]))
    model.load_state_dict(_apart(unpack(packed), model.config))
    return model.eval(), Vocabulary(facts["vocabulary"]), facts


def _apart(fused: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """Weights of a fused model under the names of the plain one: (3C, C) → 3H × (D, C)."""
    plain: dict[str, Tensor] = {}
    for name, tensor in fused.items():
        if not name.endswith("query_key_value.weight"):
            plain[name] = tensor
            continue
        prefix = name.removesuffix("query_key_value.weight")
        parts = iter(tensor.split(config.head_size))
        for part in ("query", "key", "value"):
            for head in range(config.n_head):
                plain[f"{prefix}heads.{head}.{part}.weight"] = next(parts)
    return plain


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
        from course_figures.live_model import MARKUP, WritingModel

        MARKUP.write_text(WritingModel().html() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
