"""What each idea of chapter 12 does for writing: tokens a second and bytes, alone and together.

python -m benchmarks.faster

Writes `results/faster.json`. One model, the course's own GPT, is trained for a minute, because
how many drafts are accepted depends on it. The form whose heads share one key and one value takes
rows of the model's own matrix for them, since its speed does not depend on its weights. All forms
take turns in one run, so that their ratios are worth more than their seconds; seconds are those of
the processor.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.measuring import write_results
from course_lib import data
from course_lib.contexts import evaluation_mode
from course_lib.model import GPT, Config, fuse
from course_lib.sampling import CachedGPT, generate, next_probabilities
from course_lib.training import fit

CONTEXT = 256
COUNT = CONTEXT - 1  # from one symbol to the model's full context
LOOKAHEAD = 3
GROUPS = 1


def processor_seconds(
    forms: dict[str, Callable[[], object]], rounds: int
) -> dict[str, dict[str, float]]:
    """Seconds of the processor for one call of each form, all forms in turn; median and range."""
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for counted in [False] + [True] * rounds:
        for name, write in forms.items():
            start = time.process_time()
            write()
            if counted:
                seconds[name].append(time.process_time() - start)
    return {
        name: {"median": statistics.median(s), "least": min(s), "most": max(s)}
        for name, s in seconds.items()
    }


class PlainCache:
    """Keys and values are kept, and nothing else is changed: each head still works by itself."""

    def __init__(self, model: GPT, rows: int):
        self._model = model
        D = model.config.head_size
        self._kept = [
            [torch.zeros(2, rows, CONTEXT, D) for _ in block.attention.heads]
            for block in model.blocks
        ]
        self.length = 0

    def __call__(self, tokens: Tensor) -> Tensor:
        """(B, 1) → logits (B, 1, V)."""
        model, t = self._model, self.length
        x = model.embedding.tokens(tokens) + model.embedding.positions.weight[t]
        for block, kept in zip(model.blocks, self._kept, strict=True):
            normed = block.attention_norm(x)
            found = [
                self._look(head, normed, own, t)
                for head, own in zip(block.attention.heads, kept, strict=True)
            ]
            x = x + block.attention.projection(torch.cat(found, dim=-1))
            x = x + block.feed_forward(block.feed_forward_norm(x))
        self.length += 1
        return model.output(model.norm(x))

    @staticmethod
    def _look(head, x: Tensor, kept: Tensor, t: int) -> Tensor:
        kept[0, :, t], kept[1, :, t] = head.key(x)[:, 0], head.value(x)[:, 0]
        keys, values = kept[:, :, : t + 1].unbind()  # (B, t + 1, D) each
        scores = head.query(x) @ keys.mT * keys.shape[-1] ** -0.5  # (B, 1, t + 1)
        return scores.softmax(dim=-1) @ values


class GroupedCache:
    """A fused GPT whose H heads share `groups` keys and values; the cache is H / groups smaller."""

    def __init__(self, model: GPT, rows: int, groups: int):
        self._model, self._groups = model, groups
        config = model.config
        C, D = config.n_embd, config.head_size
        self._projections = [
            block.attention.query_key_value.weight[: C + 2 * groups * D] for block in model.blocks
        ]
        self._kept = torch.zeros(config.n_layer, 2, rows, groups, CONTEXT, D)
        self.length = 0

    @property
    def bytes(self) -> int:
        """What is kept of a full context."""
        return self._kept.numel() * self._kept.element_size()

    def __call__(self, tokens: Tensor) -> Tensor:
        """(B, 1) → logits (B, 1, V)."""
        model, t = self._model, self.length
        B, G, D = len(tokens), self._groups, self._kept.shape[-1]
        x = model.embedding.tokens(tokens) + model.embedding.positions.weight[t]
        for block, kept, weight in zip(model.blocks, self._kept, self._projections, strict=True):
            parts = F.linear(block.attention_norm(x), weight)  # (B, 1, C + 2GD)
            query, both = parts.split([x.shape[-1], 2 * G * D], dim=-1)
            kept[..., t, :] = both.view(B, 2, G, D).transpose(0, 1)
            keys, values = kept[:, :, :, : t + 1].unbind()  # (B, G, t + 1, D) each
            # The H / G queries of a group stand where positions usually do, so nothing is repeated.
            found = F.scaled_dot_product_attention(query.view(B, G, -1, D), keys, values)
            x = x + block.attention.projection(found.reshape(B, 1, -1))
            x = x + block.feed_forward(block.feed_forward_norm(x))
        self.length += 1
        return model.output(model.norm(x))


def write_with(reader: Callable[[Tensor], Tensor], rows: int) -> Tensor:
    """A text of CONTEXT symbols a row, one symbol a call."""
    token, text = torch.zeros(rows, 1, dtype=torch.int64), []
    with torch.inference_mode():
        for _ in range(COUNT):
            token = torch.multinomial(next_probabilities(reader(token)[:, -1]), 1)
            text.append(token)
    return torch.cat(text, dim=1)


def trigram_table(tokens: Tensor, V: int) -> Tensor:
    """(V, V, V): how often each symbol follows two others, with the bigram's shares mixed in."""
    pairs = torch.bincount(tokens[:-1] * V + tokens[1:], minlength=V * V).view(V, V).double()
    pairs = (pairs + 0.01) / (pairs + 0.01).sum(dim=-1, keepdim=True)
    triples = torch.bincount(
        (tokens[:-2] * V + tokens[1:-1]) * V + tokens[2:], minlength=V**3
    ).view(V, V, V)
    mixed = triples + 2 * pairs
    return (mixed / mixed.sum(dim=-1, keepdim=True)).float()


def speculate(read: Callable[[list[int], int], Tensor], table: Tensor) -> tuple[list[int], int]:
    """One text by drafts from a table; `read` gives the model's logits of the last positions."""
    text, calls = [0, 0], 0  # the first symbol twice, since the table wants two
    while len(text) < CONTEXT + 1:
        k = min(LOOKAHEAD, CONTEXT - len(text))
        draft, shares = list(text), []
        for _ in range(k):
            shares.append(table[draft[-2], draft[-1]])
            draft.append(int(torch.multinomial(shares[-1], 1)))
        target = next_probabilities(read(draft[1:], k + 1))  # (k + 1, V)
        calls += 1
        for i in range(k):
            symbol = draft[len(text)]
            if float(torch.rand(())) * shares[i][symbol] < target[i, symbol]:
                text.append(symbol)
                continue
            text.append(int(torch.multinomial((target[i] - shares[i]).clamp(min=0), 1)))
            break
        else:
            text.append(int(torch.multinomial(target[k], 1)))
    return text[1:], calls


def speculate_uncached(model: GPT, table: Tensor) -> tuple[list[int], int]:
    """The model reads the whole text with its drafts each time."""
    with torch.inference_mode():
        return speculate(lambda text, n: model(torch.tensor([text]))[0][0, -n:], table)


def speculate_cached(model: GPT, table: Tensor) -> tuple[list[int], int]:
    """The model reads what it has not read; what was rejected is forgotten by counting back."""
    with torch.inference_mode():
        reader = CachedGPT(model, 1)

        def read(text: list[int], n: int) -> Tensor:
            reader.length = min(reader.length, len(text) - n)
            return reader(torch.tensor([text[reader.length :]]))[0, -n:]

        return speculate(read, table)


def write_in_8_bits(model: GPT) -> Callable[[], object]:
    """The blocks' matrices are kept as int8 with a scale a row, and widened at each use."""
    kept = {}
    for block in model.blocks:
        for part in block.modules():
            if isinstance(part, torch.nn.Linear):
                scale = part.weight.detach().abs().amax(dim=1, keepdim=True) / 127
                kept[part] = (part.weight.detach() / scale).round().to(torch.int8), scale

    def write() -> None:
        def widen(part, _):
            codes, scale = kept[part]
            part.weight.data = codes * scale

        hooks = [part.register_forward_pre_hook(widen) for part in kept]
        before = {part: part.weight.data for part in kept}
        generate(model, torch.zeros(1, 1, dtype=torch.int64), COUNT)
        for hook in hooks:
            hook.remove()
        for part, weight in before.items():
            part.weight.data = weight

    return write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300, help="of training")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    corpus = data.load("shakespeare")
    config = Config(len(corpus.vocabulary), CONTEXT, n_layer=4, n_head=4, n_embd=128)
    torch.manual_seed(0)
    fused = fuse(GPT(config))
    history = fit(
        fused, corpus, steps=options.steps, batch_size=8, lr=2e-3, schedule="cosine",
        progress=False, evaluate_every=options.steps,
    )  # fmt: skip
    plain = unfused(fused, config).eval()
    fused.eval()
    table = trigram_table(corpus.train, len(corpus.vocabulary))

    def prompt(rows: int) -> Tensor:
        return torch.zeros(rows, 1, dtype=torch.int64)

    forms: dict[tuple[int, str], Callable[[], object]] = {}
    for rows in (1, 8):
        forms |= {
            (rows, "plain loop"): lambda r=rows: generate(plain, prompt(r), COUNT),
            (rows, "fused heads"): lambda r=rows: generate(fused, prompt(r), COUNT),
            (rows, "cache"): lambda r=rows: write_with(PlainCache(plain, r), r),
            (rows, "fused, cache"): lambda r=rows: generate(fused, prompt(r), COUNT, cache=True),
            (rows, "fused, cache, one group"): lambda r=rows: write_with(
                GroupedCache(fused, r, GROUPS), r
            ),
        }
    forms |= {
        (1, "drafts"): lambda: speculate_uncached(plain, table),
        (1, "8-bit weights"): write_in_8_bits(plain),
        (1, "fused, cache, drafts"): lambda: speculate_cached(fused, table),
    }
    with evaluation_mode(plain), evaluation_mode(fused):
        seconds = processor_seconds(forms, options.rounds)
        calls = [speculate_cached(fused, table)[1] for _ in range(5)]
    weights = 4 * sum(p.numel() for p in plain.parameters())
    matrices = sum(p.numel() for block in fused.blocks for p in block.parameters() if p.ndim == 2)
    rows_of = sum(len(p) for block in fused.blocks for p in block.parameters() if p.ndim == 2)
    cache = 4 * config.n_layer * 2 * CONTEXT * config.n_embd
    lines = []
    for (rows, name), s in seconds.items():
        base = seconds[rows, "plain loop"]["median"]
        kept = cache * rows if "cache" in name else 0
        if "group" in name:
            kept = GroupedCache(fused, rows, GROUPS).bytes
            shared = config.n_embd - GROUPS * config.head_size  # keys, and values, not needed
            held = weights - 4 * config.n_layer * 2 * shared * config.n_embd
        elif "8-bit" in name:
            held = weights - 3 * matrices + 4 * rows_of
        else:
            held = weights
        lines.append(
            {
                "rows": rows, "form": name, "tokens_per_second": rows * COUNT / s["median"],
                "times": base / s["median"], "range": [s["least"], s["most"]],
                "cache_bytes": kept, "weight_bytes": held,
            }
        )  # fmt: skip
        print(f"{rows} {name:26} {lines[-1]['tokens_per_second']:9,.0f} tokens/s"
              f" {lines[-1]['times']:6.1f} ×  {kept:10,} B", flush=True)  # fmt: skip
    write_results(
        "faster",
        {
            "tokens": COUNT, "context": CONTEXT, "rounds": options.rounds, "lines": lines,
            "validation": history.validation, "lookahead": LOOKAHEAD,
            "tokens_per_call": COUNT / statistics.mean(calls),
        },
    )  # fmt: skip


def unfused(fused: torch.nn.Module, config: Config) -> GPT:
    """The same weights with each head by itself."""
    plain = GPT(config)
    state = {k: v for k, v in fused.state_dict().items() if "query_key_value" not in k}
    D = config.head_size
    for n, block in enumerate(fused.blocks):
        parts = block.attention.query_key_value.weight.detach().view(3, config.n_head, D, -1)
        for h in range(config.n_head):
            for name, weight in zip(("query", "key", "value"), parts[:, h], strict=True):
                state[f"blocks.{n}.attention.heads.{h}.{name}.weight"] = weight.clone()
    plain.load_state_dict(state)
    return plain


if __name__ == "__main__":
    main()
