"""Text out of a language model: temperature, top-k, top-p, and a cache of keys and values.

A model gives logits for the next symbol; sampling turns them into probabilities, draws one symbol,
appends it, and asks again. The edges are defined, not left to chance:

========================  =====================================================================
setting                   what happens
========================  =====================================================================
temperature → 0           the distribution closes in on the most likely symbol; 0 means exactly
                          that symbol (the first of equals), nothing is drawn
temperature → ∞           uniform over the symbols that top-k and top-p leave
top_k = 0                 refused: it would leave no symbol; `None` switches top-k off
top_k ≥ V                 every symbol stays, as with `None`
top_p → 0                 the most likely symbol stays, always: p = 0 is greedy
top_p = 1                 every symbol stays, as with `None`
equal probabilities       of symbols that tie at the edge, those with the smaller index stay
context > block_size      the last block_size tokens are read, the rest stays in the text
empty prompt              the text starts with the vocabulary's first symbol as its only context;
                          that symbol is not part of the answer
unknown symbol            `UnknownSymbolError`, with the symbol and its position
logits of -inf            that symbol is never drawn; NaN, or none finite, is `NonFiniteLossError`
========================  =====================================================================

Dropout is off while sampling, and the model is left in the mode it was in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.config import longest_context
from course_lib.contexts import evaluation_mode
from course_lib.errors import ConfigError, NonFiniteLossError, ShapeError
from course_lib.model import GPT, Block, FusedMultiHead, fuse

if TYPE_CHECKING:
    from course_lib.data import Vocabulary


def next_probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """The distribution that the next symbol is drawn from.

    Temperature comes first, then top-k, then top-p on what top-k left, renormalized.

    Parameters
    ----------
    logits : (..., V) float
        The model's answer at one position.
    temperature : float
        Logits are divided by it; 0 takes the most likely symbol.
    top_k : int, optional
        Only the k most likely symbols may be drawn.
    top_p : float, optional
        Only the smallest set of most likely symbols whose probabilities reach p may be drawn; the
        symbol that crosses p belongs to it.

    Returns
    -------
    (..., V) float
        Rows sum to 1; a symbol that may not be drawn has exactly 0.

    Raises
    ------
    ConfigError
        If a setting is outside its range; the module's table says what each edge means.
    NonFiniteLossError
        If a row holds NaN, +inf, or no finite logit.

    Source: temperature: Ackley et al. (1985); top-k: Fan et al. (2018), section 5.1; top-p:
    Holtzman et al. (2020), section 3.1.
    """
    _check_settings(temperature, top_k, top_p)
    V = logits.shape[-1]
    logits = logits.float()
    best = logits.amax(dim=-1, keepdim=True)  # (..., 1)
    if not bool(torch.isfinite(best).all()):
        raise NonFiniteLossError(
            f"the model's logits hold {best[~torch.isfinite(best)][0].item()} as their largest "
            "value: no distribution follows from them; did training end in a loss of NaN?"
        )
    greedy = temperature < torch.finfo(logits.dtype).tiny  # float32 would round it to 0
    if not greedy and top_k is None and (top_p is None or top_p == 1):
        # Nothing is cut, so nothing has to be sorted, which takes longer than a block (chapter 12).
        return ((logits - best) / temperature).softmax(dim=-1)
    # A stable sort puts the smaller index first among equals, so that ties are always broken alike.
    order = logits.sort(dim=-1, descending=True, stable=True).indices  # (..., V)
    rank = torch.empty_like(order).scatter_(-1, order, torch.arange(V).to(order).expand_as(order))
    if greedy:
        return (rank == 0).to(logits.dtype)
    # With the largest logit shifted to 0, dividing by a small temperature cannot overflow.
    scaled = (logits - best) / temperature
    if top_k is not None:
        scaled = scaled.masked_fill(rank >= top_k, -torch.inf)
    probabilities = scaled.softmax(dim=-1)
    if top_p is not None and top_p < 1:
        ranked = probabilities.gather(-1, order)  # (..., V), descending
        before = ranked.cumsum(dim=-1) - ranked  # probability of all that are more likely
        inside = before < top_p
        inside[..., 0] = True
        kept = torch.where(inside, ranked, 0.0)
        kept = kept / kept.sum(dim=-1, keepdim=True)
        probabilities = torch.zeros_like(kept).scatter_(-1, order, kept)
    return probabilities


def generate(
    model: nn.Module,
    tokens: Tensor,
    count: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    cache: bool = False,
) -> Tensor:
    """Continue each row of a batch by `count` tokens.

    Parameters
    ----------
    model : nn.Module
        Called as `logits, _ = model(tokens)`. Where it, or its config, has `block_size`, longer
        contexts are cut.
    tokens : (B, T) int64
        B prompts of T ≥ 1 tokens.
    count : int
        Tokens to append, at least 0.
    temperature, top_k, top_p
        As in `next_probabilities`.
    generator : torch.Generator, optional
        On the model's device; the same seed draws the same tokens, whatever B's other rows hold.
    cache : bool
        Keep keys and values, for a `GPT` only: the same tokens, sooner, as long as the text fits in
        block_size. Beyond it every position shifts, and each step reads the context anew.

    Returns
    -------
    (B, T + count) int64
        The prompts and what follows them.

    Raises
    ------
    ShapeError
        If `tokens` is not (B, T) with T ≥ 1.
    ConfigError
        If a setting is outside its range, or `cache` is asked of a model that is not a GPT.
    """
    _check_settings(temperature, top_k, top_p)
    if tokens.ndim != 2 or tokens.shape[1] == 0:
        raise ShapeError(
            f"tokens has shape {tuple(tokens.shape)}: generation needs (B, T) with at least one "
            "token a row to continue; `write` starts from an empty prompt"
        )
    if count < 0:
        raise ConfigError(f"count = {count}: must be at least 0")
    block_size = longest_context(model)
    device = next(model.parameters()).device
    B, T = tokens.shape
    text = torch.empty(B, T + count, dtype=torch.int64, device=device)
    text[:, :T] = tokens
    with evaluation_mode(model), torch.inference_mode():
        reader = CachedGPT(model, B) if cache else None
        for end in range(T, T + count):
            start = 0 if block_size is None else max(0, end - block_size)
            if reader is not None and start == 0:
                logits = reader(text[:, reader.length : end])[:, -1]  # (B, V)
            else:
                logits = model(text[:, start:end])[0][:, -1]  # (B, V)
            probabilities = next_probabilities(logits, temperature, top_k, top_p)
            text[:, end] = _draw(probabilities, generator)
    return text


def write(
    model: nn.Module,
    vocabulary: Vocabulary,
    prompt: str = "",
    count: int = 300,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    cache: bool = False,
) -> str:
    """Text from a model: the prompt and `count` symbols more.

    Parameters
    ----------
    model : nn.Module
        As for `generate`.
    vocabulary : Vocabulary
        The one that the model was trained with.
    prompt : str
        How the text begins. Empty: the model's only context is the vocabulary's first symbol (the
        line break, or the boundary of names), which is not part of the answer.
    count : int
        Symbols to add.
    temperature, top_k, top_p, cache
        As for `generate`.
    seed : int, optional
        The same seed writes the same text; without one, every call differs.

    Returns
    -------
    str
        `len(prompt) + count` symbols.

    Raises
    ------
    UnknownSymbolError
        If the prompt holds a symbol that the vocabulary does not know.
    ShapeError
        If the model and the vocabulary differ in V.
    """
    device = next(model.parameters()).device
    context = vocabulary.encode(prompt or vocabulary.symbols[0]).to(device)
    generator = torch.Generator(device)
    if seed is None:
        generator.seed()
    else:
        generator.manual_seed(seed)
    with evaluation_mode(model), torch.inference_mode():
        V = model(torch.zeros(1, 1, dtype=torch.int64, device=device))[0].shape[-1]
    if len(vocabulary) != V:
        raise ShapeError(
            f"the model knows {V} symbols, the vocabulary {len(vocabulary)}: "
            "use the vocabulary of the corpus that the model was trained on"
        )
    text = generate(
        model,
        context.unsqueeze(0),
        count,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        generator=generator,
        cache=cache,
    )[0]
    return vocabulary.decode(text if prompt else text[1:])


class CachedGPT:
    """A GPT that reads each token once: keys and values of what it has read are kept.

    Row t of causal attention needs query t alone, and the keys and values of 0 … t: the last row of
    the triangle. Everything above it was computed for earlier tokens and does not change.

    Parameters
    ----------
    model : nn.Module
        A `GPT`, plain or fused.
    batch_size : int
        B rows that are continued together.

    Attributes
    ----------
    length : int
        How many tokens have been read.

    Raises
    ------
    ConfigError
        If the model is not a `GPT`: only its structure is known here.
    """

    def __init__(self, model: nn.Module, batch_size: int):
        if not isinstance(model, GPT):
            raise ConfigError(
                f"cache = True with a {type(model).__name__}: only a GPT keeps keys and values; "
                "leave cache = False"
            )
        fused = cast(GPT, fuse(model))
        self._embedding, self._norm, self._output = fused.embedding, fused.norm, fused.output
        self._layers = [_Layer(cast(Block, block)) for block in fused.blocks]
        config = model.config
        sizes = (config.n_layer, 2, batch_size, config.n_head, config.block_size, config.head_size)
        weight = next(model.parameters())
        self._kept = torch.zeros(sizes, dtype=weight.dtype, device=weight.device)
        self.length = 0

    def __call__(self, tokens: Tensor) -> Tensor:
        """Read further tokens (B, T) and return their logits (B, T, V).

        Raises
        ------
        ShapeError
            If more than block_size tokens would have been read.
        """
        T, block_size = tokens.shape[1], self._kept.shape[-2]
        start, end = self.length, self.length + T
        if end > block_size:
            raise ShapeError(
                f"{start} tokens read and {T} more: the model has {block_size} "
                "positions; start a new cache with the end of the text"
            )
        embedding = self._embedding
        x = embedding.tokens(tokens) + embedding.positions.weight[start:end]  # (B, T, C) + (T, C)
        # A single new token sees all that has been read: the triangle's last row hides nothing.
        past = None if T == 1 else torch.ones(T, end, dtype=torch.bool, device=x.device).tril(start)
        for layer, kept in zip(self._layers, self._kept[..., :end, :], strict=True):
            x = layer(x, kept, past)
        self.length = end
        return self._output(self._norm(x))


class _Layer:
    """A block's weights, and what one token needs of them.

    Most of a short step is the time between operations. So there are as few of them as possible:
    no module is called, and no dropout that does nothing.
    """

    def __init__(self, block: Block):
        attention = cast(FusedMultiHead, block.attention)
        widen, _, narrow, _ = block.feed_forward.layers
        self._n_head = attention.n_head
        self._attention_norm, self._feed_forward_norm = (
            (part.normalized_shape, part.weight, part.bias, part.eps)
            for part in (block.attention_norm, block.feed_forward_norm)
        )
        self._query_key_value = attention.query_key_value.weight  # (3C, C)
        self._projection, self._widen, self._narrow = (
            (part.weight, part.bias)
            for part in (attention.projection, cast(nn.Linear, widen), cast(nn.Linear, narrow))
        )

    def __call__(self, x: Tensor, kept: Tensor, past: Tensor | None) -> Tensor:
        """(B, T, C) → (B, T, C); writes the last T of what is kept, (2, B, H, end, D)."""
        B, T, _ = x.shape
        parts = F.linear(F.layer_norm(x, *self._attention_norm), self._query_key_value)
        parts = parts.view(B, T, 3, self._n_head, -1).permute(2, 0, 3, 1, 4)  # (3, B, H, T, D)
        kept[:, :, :, -T:] = parts[1:]
        keys, values = kept.unbind()  # (B, H, end, D) each
        found = F.scaled_dot_product_attention(parts[0], keys, values, attn_mask=past)
        x = x + F.linear(found.transpose(1, 2).flatten(2), *self._projection)  # (B, T, C)
        wide = F.linear(F.layer_norm(x, *self._feed_forward_norm), *self._widen).relu_()
        return x + F.linear(wide, *self._narrow)


def _draw(probabilities: Tensor, generator: torch.Generator | None) -> Tensor:
    """One index a row of (B, V): where a uniform number falls among the cumulated probabilities.

    One number is drawn for each row and step whatever the probabilities are, so that two settings
    with the same seed can be compared.
    """
    edges = probabilities.cumsum(dim=-1)  # (B, V)
    point = torch.rand(len(edges), 1, device=probabilities.device, generator=generator)
    # The last edge is 1 only up to rounding. A number drawn is at most 1 − 2⁻²⁴, and the product
    # rounds to something below the last edge, so that the edge found ends a probability above 0.
    return torch.searchsorted(edges, point * edges[:, -1:], right=True).squeeze(1)  # (B,)


def _check_settings(temperature: float, top_k: int | None, top_p: float | None) -> None:
    if not 0 <= temperature < float("inf"):
        raise ConfigError(
            f"temperature = {temperature}: must be at least 0 (greedy) and finite; "
            "1 leaves the model's distribution as it is"
        )
    if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
        raise ConfigError(
            f"top_k = {top_k!r}: must be a whole number of at least 1; None switches it off"
        )
    if top_p is not None and not 0 <= top_p <= 1:
        raise ConfigError(f"top_p = {top_p}: a share of probability, from 0 (greedy) to 1 (all)")
