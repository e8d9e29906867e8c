"""The small GPT that the figure of the residual stream shows if it is given none.

`python -m course_figures.stream_weights` trains it anew (under a minute on one processor core,
where Tiny Shakespeare is at hand) and writes the file beside this module. The same command on the
same machine gives the same weights.
"""

from __future__ import annotations

from pathlib import Path

import torch

from course_lib import checkpoints, schedules
from course_lib.data import Corpus, Vocabulary, load
from course_lib.errors import CheckpointError
from course_lib.model import GPT, Config
from course_lib.training import evaluate, fit

WEIGHTS = Path(__file__).with_name("stream_model.safetensors")
"""The committed weights, in half precision."""

STEPS = 3000
BLOCK_SIZE, N_LAYER, N_HEAD, N_EMBD = 32, 4, 2, 16
SEED = 1337


def train(corpus: Corpus, steps: int = STEPS) -> GPT:
    """Train a GPT of four blocks and sixteen channels, small enough to travel with a page.

    Parameters
    ----------
    corpus : Corpus
        Its text and vocabulary.
    steps : int
        Batches of 64 windows of 32 tokens.

    Returns
    -------
    GPT
        In evaluation mode, its weights rounded to half precision.
    """
    torch.manual_seed(SEED)
    model = GPT(Config(len(corpus.vocabulary), BLOCK_SIZE, N_LAYER, N_HEAD, N_EMBD))
    warm_up = schedules.linear(warm_up=min(50, steps // 4))
    fit(model, corpus, steps=steps, batch_size=64, lr=6e-3, schedule=warm_up, seed=SEED)
    return model.eval().half().float()


def write(path: Path, model: GPT, corpus: Corpus) -> float:
    """Keep a model and where it comes from.

    Parameters
    ----------
    path : Path
        Replaced when the new file is complete.
    model : GPT
        As `train` returns it.
    corpus : Corpus
        What it was trained on.

    Returns
    -------
    float
        Its validation loss, in nats per symbol, which the file holds too.
    """
    loss = evaluate(model, corpus.validation, BLOCK_SIZE)
    facts = {
        "corpus": corpus.name,
        "vocabulary": "".join(corpus.vocabulary.symbols),
        "validation_loss": loss,
        "model": checkpoints.describe_model(model),
    }
    weights = {name: tensor.half() for name, tensor in model.state_dict().items()}
    checkpoints.write_checkpoint(path, weights, facts)
    return loss


def stream_model(path: Path = WEIGHTS) -> tuple[GPT, Vocabulary]:
    """The stored model and its vocabulary.

    Parameters
    ----------
    path : Path
        A file that `write` wrote.

    Returns
    -------
    GPT, Vocabulary
        The model in evaluation mode and single precision.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or holds weights of another shape.
    """
    weights, facts = checkpoints.read_checkpoint(path)
    model = GPT(Config(**facts["model"]["config"]))
    try:
        model.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    except RuntimeError as error:
        raise CheckpointError(
            f"{path.name} holds weights of another model: take the file from the course again, or "
            "write it anew with python -m course_figures.stream_weights"
        ) from error
    return model.eval(), Vocabulary(facts["vocabulary"])


def main() -> None:
    """Train and write; see the module's first lines."""
    torch.set_num_threads(1)  # with more, sums are taken in another order and rounded otherwise
    corpus = load("shakespeare", fallback=False)
    loss = write(WEIGHTS, train(corpus), corpus)
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size:,} bytes, validation loss {loss:.4f}")


if __name__ == "__main__":
    main()
