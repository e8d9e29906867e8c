"""Answers that put a block together: branches on a residual stream, a feed-forward network."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.peer_problems.attention import heads, past
from benchmarks.peer_problems.problem import Answer, Problem

# Pre-norm branches: (B, T, C), norms, branches → (B, T, C).

Maps = Sequence[Callable[[Tensor], Tensor]]


def _in_turn(step: Callable[..., Tensor]) -> Answer:
    """An answer that takes the same step for each branch."""

    def answer(x: Tensor, norms: Maps, branches: Maps) -> Tensor:
        for norm, branch in zip(norms, branches, strict=True):
            x = step(x, norm, branch)
        return x

    return answer


def _listed(x: Tensor, norms: Maps, branches: Maps) -> Tensor:
    parts = [x]
    for norm, branch in zip(norms, branches, strict=True):
        parts.append(branch(norm(torch.stack(parts).sum(dim=0))))
    return torch.stack(parts).sum(dim=0)


def _one_norm(x: Tensor, norms: Maps, branches: Maps) -> Tensor:
    for branch in branches:
        x = x + branch(norms[0](x))
    return x


def _in_parallel(x: Tensor, norms: Maps, branches: Maps) -> Tensor:
    return x + sum(branch(norm(x)) for norm, branch in zip(norms, branches, strict=True))


def _first_input(x: Tensor, norms: Maps, branches: Maps) -> Tensor:
    start = x
    for norm, branch in zip(norms, branches, strict=True):
        x = start + branch(norm(x))
    return x


def _last_unskipped(x: Tensor, norms: Maps, branches: Maps) -> Tensor:
    for norm, branch in zip(norms[:-1], branches[:-1], strict=True):
        x = x + branch(norm(x))
    return branches[-1](norms[-1](x))


def _block_for_us(answer: Answer) -> Any:
    class DecoderBlock(nn.Module):
        def __init__(
            self,
            n_embd: int,
            attention: nn.Module,
            cross_attention: nn.Module,
            feed_forward: nn.Module,
        ):
            super().__init__()
            self.attention, self.cross_attention = attention, cross_attention
            self.feed_forward = feed_forward
            self.attention_norm = nn.LayerNorm(n_embd)
            self.cross_norm = nn.LayerNorm(n_embd)
            self.feed_forward_norm = nn.LayerNorm(n_embd)

        def forward(self, x: Tensor, memory: Tensor) -> Tensor:
            listening = functools.partial(self.cross_attention, memory=memory)
            done: Tensor = answer(
                x,
                (self.attention_norm, self.cross_norm, self.feed_forward_norm),
                (self.attention, listening, self.feed_forward),
            )
            return done

    return DecoderBlock


def _block_for_them(answer: Answer) -> Any:
    class GPT2Block(nn.Module):
        def __init__(self, d_model: int, num_heads: int):
            super().__init__()
            self.num_heads = num_heads
            self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
            self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))
            self.mlp = nn.Sequential(
                nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
            )

        def _attention(self, x: Tensor) -> Tensor:
            q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
            mixed: Tensor = self.W_o(heads(q, k, v, self.num_heads, past(x.shape[1])))
            return mixed

        def forward(self, x: Tensor) -> Tensor:
            done: Tensor = answer(x, (self.ln1, self.ln2), (self._attention, self.mlp))
            return done

    return GPT2Block


BLOCK = Problem(
    "07/pre-norm-block",
    "gpt2_block",
    _block_for_us,
    _block_for_them,
    {
        "in turn": _in_turn(lambda x, norm, branch: x + branch(norm(x))),
        "all parts listed": _listed,
    },
    {
        "post-norm": _in_turn(lambda x, norm, branch: norm(x + branch(x))),
        "no skip": _in_turn(lambda x, norm, branch: branch(norm(x))),
        "skip from the norm": _in_turn(lambda x, norm, branch: norm(x) + branch(norm(x))),
        "not normalized": _in_turn(lambda x, norm, branch: x + branch(x)),  # noqa: ARG005
        "branch normalized": _in_turn(lambda x, norm, branch: x + norm(branch(x))),
        "one norm for all": _one_norm,
        "in parallel": _in_parallel,
        "first input added": _first_input,
        "last skip missing": _last_unskipped,
    },
)


# A feed-forward network with a gate: (B, T, C), three layers, what bends the gate → (B, T, C).
# It is ReLU here and SiLU there, so the adapters hand it over.


def _gated(x: Tensor, gate: nn.Linear, up: nn.Linear, down: nn.Linear, bend: Answer) -> Tensor:
    done: Tensor = down(bend(gate(x)) * up(x))
    return done


def _fused(x: Tensor, gate: nn.Linear, up: nn.Linear, down: nn.Linear, bend: Answer) -> Tensor:
    opened, value = F.linear(x, torch.cat([gate.weight, up.weight])).chunk(2, dim=-1)
    done: Tensor = down(bend(opened) * value)
    return done


def _gate_for_us(answer: Answer) -> Any:
    class GatedFeedForward(nn.Module):
        def __init__(self, n_embd: int, hidden: int):
            super().__init__()
            self.gate = nn.Linear(n_embd, hidden, bias=False)
            self.up = nn.Linear(n_embd, hidden, bias=False)
            self.down = nn.Linear(hidden, n_embd, bias=False)

        def forward(self, x: Tensor) -> Tensor:
            done: Tensor = answer(x, self.gate, self.up, self.down, torch.relu)
            return done

    return GatedFeedForward


def _gate_for_them(answer: Answer) -> Any:
    class SwiGLUMLP(nn.Module):
        def __init__(self, d_model: int, d_ff: int):
            super().__init__()
            self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
            self.up_proj = nn.Linear(d_model, d_ff, bias=False)
            self.down_proj = nn.Linear(d_ff, d_model, bias=False)

        def forward(self, x: Tensor) -> Tensor:
            done: Tensor = answer(x, self.gate_proj, self.up_proj, self.down_proj, F.silu)
            return done

    return SwiGLUMLP


GATE = Problem(
    "07/feed-forward",
    "mlp",
    _gate_for_us,
    _gate_for_them,
    {"two layers": _gated, "one wide layer": _fused},
    {
        "bend on the value": lambda x, g, u, d, bend: d(g(x) * bend(u(x))),
        "bend on the product": lambda x, g, u, d, bend: d(bend(g(x) * u(x))),
        "both bent": lambda x, g, u, d, bend: d(bend(g(x)) * bend(u(x))),
        "nothing bent": lambda x, g, u, d, bend: d(g(x) * u(x)),  # noqa: ARG005
        "sigmoid": lambda x, g, u, d, bend: d(g(x).sigmoid() * u(x)),  # noqa: ARG005
        "added": lambda x, g, u, d, bend: d(bend(g(x)) + u(x)),
        "no gate": lambda x, g, u, d, bend: d(bend(u(x))),  # noqa: ARG005
        "gate alone": lambda x, g, u, d, bend: d(bend(g(x))),  # noqa: ARG005
        "bend at the end": lambda x, g, u, d, bend: bend(d(g(x) * u(x))),
    },
)
