"""Chapter 11 over seeds: when copying heads form, and which heads carry the links of the play.

`python -m benchmarks.looking_inside` trains ten small models on texts that repeat themselves (each
a few seconds of one processor core) and three on the play (about a minute and a half each), and
writes `results/looking_inside.json`, which the chapter quotes.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib import data, schedules
from course_lib.data import play
from course_lib.model import GPT, Config, FusedMultiHead, fuse
from course_lib.training import fit

RESULTS = Path(__file__).parent / "results" / "looking_inside.json"

LETTERS, T, STEPS, BATCH, RATE = 26, 40, 250, 48, 0.005
SHORTEST, LONGEST = 6, 24
LINKS = ("epithet", "doublet", "agreement", "bracket", "rhyme", "naming", "mood")
PLAY_BLOCK, PLAY_STEPS = 64, 1800
NEAR = 4  # characters that count as looking at a source, from one before its first on


class Nothing(nn.Module):
    """Stands where a feed-forward network was: adds nothing."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → zeros."""
        return torch.zeros_like(x)


def attention_only(vocab_size: int, block_size: int, n_head: int, n_embd: int) -> GPT:
    """Two blocks without their feed-forward networks."""
    model = GPT(Config(vocab_size, block_size, n_layer=2, n_head=n_head, n_embd=n_embd))
    blocks: Any = model.blocks
    for block in blocks:
        block.feed_forward_norm, block.feed_forward = nn.Identity(), Nothing()
    return model


def repeats(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """n texts that repeat a word of distinct letters after a start symbol: x and y, (n, T) each.

    y is −100 where nothing before it says which letter follows.
    """
    order = 1 + torch.rand(n, LETTERS, generator=generator).argsort(dim=-1)
    period = torch.randint(SHORTEST, LONGEST + 1, (n, 1), generator=generator)
    text = order.gather(1, torch.arange(T) % period)  # (n, T)
    x = torch.cat([torch.zeros(n, 1, dtype=torch.int64), text[:, :-1]], dim=1)
    return x, text.masked_fill(torch.arange(T) <= period, -100)


def attention(model: Any, x: Tensor) -> list[Tensor]:
    """(B, H, T, T) weights of each block of a fused model."""
    stream, weights = model.embedding(x), []
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    for block in model.blocks:
        query, key, _ = block.attention.split(block.attention_norm(stream))
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights.append(scores.masked_fill(future, -torch.inf).softmax(dim=-1))
        stream = block(stream)
    return weights


def prefix_matching(weights: Tensor, x: Tensor) -> Tensor:
    """(H,) mean weight on what followed earlier places of the same symbol."""
    same = (x[:, :, None] == x[:, None, :]).tril(-1)
    behind = F.pad(same[..., :-1], (1, 0))
    asked = same.any(-1)
    return (weights * behind[:, None]).sum(dim=(0, 2, 3)) / asked.sum()


def copying(seed: int) -> dict[str, Any]:
    """One model on texts that repeat themselves: its loss, and its heads' scores, as it learns."""
    torch.manual_seed(seed)
    model = fuse(attention_only(LETTERS + 1, T, n_head=2, n_embd=64))
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.0, fused=True
    )
    generator = torch.Generator().manual_seed(seed)
    x, y = repeats(256, torch.Generator().manual_seed(999))
    steps = []
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = (
            RATE * min(1, (step + 1) / 30) * min(1, (STEPS - step) / (0.4 * STEPS))
        )
        loss = model(*repeats(BATCH, generator))[1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 10 == 0:
            with torch.no_grad():
                best = max(prefix_matching(w, x).max().item() for w in attention(model, x))
                steps.append([step + 1, model(x, y)[1].item(), best])
    return {"seed": seed, "loss": steps[-1][1], "score": steps[-1][2], "steps": steps}


def found_by_heads(
    model: Any, x: Tensor, replaced: Mapping[tuple[int, int], Tensor] | None = None
) -> tuple[Tensor, list[Tensor]]:
    """Logits, and what each head found (B, H, T, D), with some heads' findings replaced."""
    stream, found = model.embedding(x), []
    for layer, block in enumerate(model.blocks):
        part = block.attention
        assert isinstance(part, FusedMultiHead)
        heads = F.scaled_dot_product_attention(
            *part.split(block.attention_norm(stream)), is_causal=True
        )
        found.append(heads)
        for (at, head), other in (replaced or {}).items():
            if at == layer:
                heads = heads.clone()
                heads[:, head] = other
        stream = stream + part.merge(heads)
        stream = stream + block.feed_forward(block.feed_forward_norm(stream))
    return model.output(model.norm(stream)), found


@torch.no_grad()
def anywhere(model: Any, windows: int = 100) -> list[float]:
    """By how much the loss at all characters of the validation split rises without each head."""
    corpus = data.load("play")
    size = model.block_size
    generator = torch.Generator().manual_seed(0)
    starts = torch.randint(len(corpus.train) - size, (256,), generator=generator)
    _, reference = found_by_heads(model, corpus.train[starts[:, None] + torch.arange(size)])
    held = corpus.validation[: windows * (size + 1)].view(windows, size + 1)
    x, y = held[:, :-1], held[:, 1:]
    whole = F.cross_entropy(found_by_heads(model, x)[0].mT, y).item()
    return [
        F.cross_entropy(
            found_by_heads(model, x, {(layer, head): found[:, head].mean(dim=(0, 1))})[0].mT, y
        ).item()
        - whole
        for layer, found in enumerate(reference)
        for head in range(found.shape[1])
    ]


@torch.no_grad()
def carriers(model: Any, most: int = 300) -> dict[str, Any]:
    """For each link of the play, what every head is worth to it and where it looks."""
    comedy, corpus = play.write(), data.load("play")
    tokens = torch.cat([corpus.train, corpus.validation])
    split, size = len(corpus.train), model.block_size
    generator = torch.Generator().manual_seed(0)
    starts = torch.randint(split - size, (256,), generator=generator)
    _, reference = found_by_heads(model, tokens[starts[:, None] + torch.arange(size)])
    results = {}
    for name in LINKS:
        links = torch.from_numpy(comedy.links(name))  # (n, 2): what is written, what it repeats
        links = links[(links[:, 1] > split + size) & (links[:, 0] - links[:, 1] < size - 4)][:most]
        target, source = links.T
        x = tokens[(target - size)[:, None] + torch.arange(size)]
        y, place = tokens[target], size - (target - source)  # (n,) each
        logits, _ = found_by_heads(model, x)
        whole = F.cross_entropy(logits[:, -1], y).item()
        weights = attention(model, x)
        damage, looks = [], []
        for layer, found in enumerate(reference):
            for head in range(found.shape[1]):
                mean = found[:, head].mean(dim=(0, 1))
                broken, _ = found_by_heads(model, x, {(layer, head): mean})
                damage.append(F.cross_entropy(broken[:, -1], y).item() - whole)
                # What is read begins at the source; a head may look at its end or behind it.
                near = place[:, None] + torch.arange(NEAR) - 1
                row = weights[layer][:, head, -1]
                looks.append(row.gather(1, near.clamp(0, size - 1)).sum(1).mean().item())
        evenly = NEAR / size
        results[name] = {
            "n": len(y),
            "distance": (target - source).float().median().item(),
            "floor": float(comedy.nll[target.numpy()].mean()),
            "loss": whole,
            "evenly": evenly,
            "damage": damage,
            "looks": looks,
        }
    return results


def on_the_play(seed: int) -> dict[str, Any]:
    """One GPT on the play, and what its heads carry."""
    torch.manual_seed(seed)
    corpus = data.load("play")
    model = fuse(GPT(Config(len(corpus.vocabulary), PLAY_BLOCK, n_layer=3, n_head=4, n_embd=64)))
    history = fit(
        model,
        corpus,
        steps=PLAY_STEPS,
        batch_size=32,
        optimizer="muon",
        lr=4e-3,
        muon_lr=0.03,
        schedule=schedules.linear(warm_up=50),
        seed=seed,
        progress=False,
        evaluate_every=PLAY_STEPS,
    )
    return {
        "seed": seed,
        "validation": history.validation,
        "anywhere": anywhere(model.eval()),
        "links": carriers(model),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write; see the module's first lines."""
    parser = argparse.ArgumentParser(description="Chapter 11 over seeds.")
    parser.add_argument("--to", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    results = {
        "copying": [copying(seed) for seed in range(10)],
        "play": [on_the_play(seed) for seed in range(3)],
    }
    options.to.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
