"""Answers between two sequences: cross-attention with several heads, and a step of a beam."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.peer_problems.attention import attend, heads, past
from benchmarks.peer_problems.problem import Answer, Problem

# Cross-attention: (B, T, C), (B, S, M), its four layers, H → (B, T, C).

Layer = Callable[[Tensor], Tensor]
Layers = tuple[Layer, Layer, Layer, Layer]
"""Of queries, keys, values, and the projection."""


def _listening(x: Tensor, memory: Tensor, layers: Layers, H: int, **slip: Any) -> Tensor:
    query, key, value, projection = layers
    return projection(heads(query(x), key(memory), value(memory), H, None, **slip))


def _a_loop(x: Tensor, memory: Tensor, layers: Layers, H: int) -> Tensor:
    query, key, value, projection = layers
    parts = (part.chunk(H, dim=-1) for part in (query(x), key(memory), value(memory)))
    return projection(torch.cat([attend(*one) for one in zip(*parts, strict=True)], dim=-1))


def _torch_listening(x: Tensor, memory: Tensor, layers: Layers, H: int) -> Tensor:
    query, key, value, projection = layers
    q, k, v = (
        part.unflatten(-1, (H, -1)).transpose(1, 2)
        for part in (query(x), key(memory), value(memory))
    )
    return projection(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def _one_head(x: Tensor, memory: Tensor, layers: Layers, H: int) -> Tensor:  # noqa: ARG001
    query, key, value, projection = layers
    return projection(attend(query(x), key(memory), value(memory)))


def _only_the_past(x: Tensor, memory: Tensor, layers: Layers, H: int) -> Tensor:
    query, key, value, projection = layers
    T, S = x.shape[1], memory.shape[1]
    seen = past(max(T, S))[:T, :S]
    return projection(heads(query(x), key(memory), value(memory), H, seen))


def _keys_for_values(x: Tensor, memory: Tensor, layers: Layers, H: int) -> Tensor:
    query, key, _, projection = layers
    return projection(heads(query(x), key(memory), key(memory), H, None))


def _unprojected(x: Tensor, memory: Tensor, layers: Layers, H: int) -> Tensor:
    query, key, value, _ = layers
    return heads(query(x), key(memory), value(memory), H, None)


def _cross_for_us(answer: Answer) -> Any:
    class CrossAttention(nn.Module):
        def __init__(self, n_embd: int, n_memory: int, n_head: int):
            super().__init__()
            self.n_head = n_head
            self.norm = nn.LayerNorm(n_embd)
            self.query = nn.Linear(n_embd, n_embd, bias=False)
            self.key = nn.Linear(n_memory, n_embd, bias=False)
            self.value = nn.Linear(n_memory, n_embd, bias=False)
            self.projection = nn.Linear(n_embd, n_embd, bias=False)

        def _found(self, x: Tensor, memory: Tensor) -> Tensor:
            layers = self.query, self.key, self.value, self.projection
            return x + answer(self.norm(x), memory, layers, self.n_head)

        def forward(self, x: Tensor, memory: Tensor, real: Tensor) -> Tensor:
            if bool(real.all()):
                return self._found(x, memory)
            return torch.cat(
                [
                    self._found(x[b : b + 1], memory[b : b + 1, words])
                    if bool(words.any())
                    else x[b : b + 1]
                    for b, words in enumerate(real)
                ]
            )

    return CrossAttention


def _cross_for_them(answer: Answer) -> Any:
    class MultiHeadCrossAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int):
            super().__init__()
            self.num_heads = num_heads
            self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

        def forward(self, x_q: Tensor, x_kv: Tensor) -> Tensor:
            layers = self.W_q, self.W_k, self.W_v, self.W_o
            found: Tensor = answer(x_q, x_kv, layers, self.num_heads)
            return found

    return MultiHeadCrossAttention


CROSS_ATTENTION = Problem(
    "13/cross-block",
    "cross_attention",
    _cross_for_us,
    _cross_for_them,
    {"transposed": _listening, "a loop": _a_loop, "torch's own": _torch_listening},
    {
        "cut by view": lambda x, m, layers, H: _listening(x, m, layers, H, split=False),
        "merged by view": lambda x, m, layers, H: _listening(x, m, layers, H, merge=False),
        "scale by channels": lambda x, m, layers, H: _listening(
            x, m, layers, H, scale=math.sqrt(x.shape[-1])
        ),
        "no scale": lambda x, m, layers, H: _listening(x, m, layers, H, scale=1.0),
        "over queries": lambda x, m, layers, H: _listening(x, m, layers, H, dim=-2),
        "one head": _one_head,
        "only the past": _only_the_past,
        "keys for values": _keys_for_values,
        "not projected": _unprojected,
        "looks at itself": lambda x, m, layers, H: _listening(x, x, layers, H),  # noqa: ARG005
    },
)


# A step of a beam: sums (W,), log-probabilities (W, V), width → for each of the best
# continuations, which text it continues, with which token, and its sum.
#
# The rest of the search is not compared: here, finished texts are set aside and all places of the
# beam are for live ones, and the length counts; there, finished texts keep their places.

Text = tuple[list[int], float]
Step = tuple[Tensor, Tensor, Tensor]


def _best(sums: Tensor, V: int, width: int) -> Step:
    chosen = sums.flatten().topk(min(width, sums.numel()))
    return chosen.indices // V, chosen.indices % V, chosen.values


def _flattened(sums: Tensor, logs: Tensor, width: int) -> Step:
    return _best(sums[:, None] + logs, logs.shape[1], width)


def _listed(sums: Tensor, logs: Tensor, width: int) -> Step:
    found = [
        (float(sums[text] + logs[text, token]), text, token)
        for text in range(len(sums))
        for token in range(logs.shape[1])
    ]
    best = sorted(found, key=lambda one: -one[0])[:width]
    return (
        torch.tensor([text for _, text, _ in best]),
        torch.tensor([token for _, _, token in best]),
        torch.tensor([total for total, _, _ in best]),
    )


def _sums_forgotten(sums: Tensor, logs: Tensor, width: int) -> Step:
    texts, tokens, _ = _best(logs, logs.shape[1], width)
    return texts, tokens, (sums[:, None] + logs)[texts, tokens]


def _best_of_each(sums: Tensor, logs: Tensor, width: int) -> Step:  # noqa: ARG001
    steps, tokens = logs.max(dim=1)
    return torch.arange(len(sums)), tokens, sums + steps


def _index_turned(sums: Tensor, logs: Tensor, width: int) -> Step:
    every = (sums[:, None] + logs).flatten()
    chosen = every.topk(min(width, len(every)))
    return chosen.indices % len(sums), chosen.indices // len(sums), chosen.values


def _best_text_alone(sums: Tensor, logs: Tensor, width: int) -> Step:
    text = sums.argmax()
    _, tokens, totals = _flattened(sums[text][None], logs[text][None], width)
    return text.expand(len(tokens)), tokens, totals


def _least_likely(sums: Tensor, logs: Tensor, width: int) -> Step:
    texts, tokens, totals = _best(-(sums[:, None] + logs), logs.shape[1], width)
    return texts, tokens, -totals


def _continued(answer: Answer, texts: Sequence[Text], logs: Tensor, width: int) -> list[Text]:
    sums = torch.tensor([total for _, total in texts], dtype=logs.dtype)
    chosen = answer(sums, logs, width)
    return [
        ([*texts[int(text)][0], int(token)], float(total))
        for text, token, total in zip(*chosen, strict=True)
    ]


def _beam_for_us(answer: Answer) -> Any:
    def ours(
        log_probabilities: Layer, start: int, end: int, width: int, longest: int, power: float
    ) -> tuple[list[int], float]:
        live, finished = [([start], 0.0)], list[Text]()
        for _ in range(longest):
            if not live:
                break
            logs = log_probabilities(torch.tensor([tokens for tokens, _ in live]))
            found = _continued(answer, live, logs, width)
            finished += [text for text in found if text[0][-1] == end]
            live = [text for text in found if text[0][-1] != end]
        scored = [(total / (len(t) - 1) ** power, t[1:]) for t, total in (*finished, *live)]
        value, tokens = max(scored)
        return tokens, value

    return ours


def _beam_for_them(answer: Answer) -> Any:
    def theirs(
        log_prob_fn: Callable[[list[int]], Tensor],
        start_token: int,
        max_len: int,
        beam_width: int,
        eos_token: int,
    ) -> list[int]:
        beam: list[Text] = [([start_token], 0.0)]
        while len(beam[0][0]) < max_len and beam[0][0][-1] != eos_token:
            finished = [text for text in beam if text[0][-1] == eos_token]
            live = [text for text in beam if text[0][-1] != eos_token]
            logs = torch.stack([log_prob_fn(tokens) for tokens, _ in live])
            # What an answer keeps beyond the width stays, so that this slip shows.
            found = _continued(answer, live, logs, beam_width)
            most = max(beam_width, len(found))
            beam = sorted([*finished, *found], key=lambda text: -text[1])[:most]
        return beam[0][0]

    return theirs


BEAM = Problem(
    "13/beam",
    "beam_search",
    _beam_for_us,
    _beam_for_them,
    {"flattened": _flattened, "listed": _listed},
    {
        "sums forgotten": _sums_forgotten,
        "not accumulated": lambda sums, logs, width: _best(logs, logs.shape[1], width),  # noqa: ARG005
        "best of each text": _best_of_each,
        "index turned": _index_turned,
        "probabilities added": lambda sums, logs, width: _best(
            sums[:, None] + logs.exp(), logs.shape[1], width
        ),
        "products for sums": lambda sums, logs, width: _best(
            sums[:, None] * logs, logs.shape[1], width
        ),
        "least likely": _least_likely,
        "best text alone": _best_text_alone,
        "one too many": lambda sums, logs, width: _flattened(sums, logs, width + 1),
    },
)
