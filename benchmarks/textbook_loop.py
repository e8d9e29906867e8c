"""The loop that published notebooks write: a list of slices stacked for each batch, and evaluation
often, on random batches of both splits.
"""

import time
from typing import Any

import torch

from benchmarks.time_to_loss_settings import Row
from course_lib import schedules
from course_lib.data import Corpus
from course_lib.training import evaluate

# Its own estimate is noisy: the whole split is read only when the estimate is this near the target.
NEAR = 0.02


def textbook(row: Row, corpus: Corpus, seed: int) -> dict[str, Any]:
    """Train as notebooks do: slices stacked, evaluation often, AdamW at a constant rate."""
    loop = row.textbook
    assert loop is not None
    splits = {"train": corpus.train, "validation": corpus.validation}

    def batch(split: str) -> tuple[torch.Tensor, torch.Tensor]:
        tokens, T = splits[split], loop.block_size
        starts = torch.randint(len(tokens) - T, (loop.batch_size,))
        x = torch.stack([tokens[start : start + T] for start in starts])
        y = torch.stack([tokens[start + 1 : start + T + 1] for start in starts])
        return x, y

    @torch.no_grad()
    def estimate() -> dict[str, float]:
        model.eval()
        means = {}
        for split in splits:
            losses = torch.zeros(loop.batches)
            for k in range(loop.batches):
                losses[k] = model(*batch(split))[1].item()
            means[split] = losses.mean().item()
        model.train()
        return means

    torch.manual_seed(seed)
    began, uncounted = time.perf_counter(), 0.0
    processor, uncounted_processor = time.process_time(), 0.0
    model = loop.build()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=1e-3, betas=loop.betas, weight_decay=loop.weight_decay
    )
    decay = schedules.cosine(warm_up=100, final=0.1)
    curve, reached, loss = [], False, float("nan")
    for step in range(loop.steps + 1):
        if step % loop.every == 0:
            means = estimate()
            seconds = time.perf_counter() - began - uncounted
            processor_seconds = time.process_time() - processor - uncounted_processor
            curve.append([step, seconds, means["validation"]])
            if means["validation"] <= row.target + NEAR or step == loop.steps:
                pause, processor_pause = time.perf_counter(), time.process_time()
                loss = evaluate(model, corpus.validation, loop.block_size)
                uncounted += time.perf_counter() - pause
                uncounted_processor += time.process_time() - processor_pause
                if loss <= row.target:
                    reached = True
                    break
        if step == loop.steps:
            break
        if loop.cosine:
            for group in optimizer.param_groups:
                group["lr"] = 1e-3 * decay(step, loop.steps)
        x, y = batch("train")
        _, batch_loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        batch_loss.backward()
        optimizer.step()
    return {
        "seconds": seconds,
        "processor_seconds": processor_seconds,
        "loss": loss,
        "reached": reached,
        "step": step,
        "curve": curve,
    }
