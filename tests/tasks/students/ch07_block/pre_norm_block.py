"""Students' answers to 07/pre-norm-block."""

import torch
from torch import nn

from students.ch07_block.shared import norm_by_loop


class BlockBase(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attn, self.cross, self.ffn = attention, cross_attention, feed_forward
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.attention_norm = nn.LayerNorm(n_embd)

    def forward(self, x, memory):
        h = x + self.attn(self.attention_norm(x))
        h = h + self.cross(self.cross_norm(h), memory)
        h = h + self.ffn(self.feed_forward_norm(h))
        return h


class OwnNorm(nn.Module):
    def __init__(self, n_embd):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n_embd))
        self.bias = nn.Parameter(torch.zeros(n_embd))

    def forward(self, x):
        return norm_by_loop(x, self.weight, self.bias, 1, 1e-5)


class BlockWithOwnNorms(BlockBase):
    def __init__(self, n_embd, *branches):
        super().__init__(n_embd, *branches)
        self.attention_norm = OwnNorm(n_embd)
        self.cross_norm = OwnNorm(n_embd)
        self.feed_forward_norm = OwnNorm(n_embd)


def blocked(forward, base=BlockBase):
    return type("SomeBlock", (base,), {"forward": forward})


def block_of_written(self, x, memory):
    written = self.attn(self.attention_norm(x))
    written = written + self.cross(self.cross_norm(x + written), memory)
    return x + written + self.ffn(self.feed_forward_norm(x + written))


def block_in_place(self, x, memory):
    y = x.clone()
    y += self.attn(self.attention_norm(y))
    y += self.cross(self.cross_norm(y), memory)
    y += self.ffn(self.feed_forward_norm(y))
    return y


class SharedNorm(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        norm = nn.LayerNorm(n_embd)
        self.attention_norm, self.cross_norm, self.feed_forward_norm = norm, norm, norm
        self.attn, self.cross, self.ffn = attention, cross_attention, feed_forward

    forward = BlockBase.forward


def after_the_sum(self, x, memory):
    x = self.attention_norm(x + self.attn(x))
    x = self.cross_norm(x + self.cross(x, memory))
    return self.feed_forward_norm(x + self.ffn(x))


def overwritten_by_norm(self, x, memory):
    x = self.attention_norm(x)
    x = x + self.attn(x)
    x = self.cross_norm(x)
    x = x + self.cross(x, memory)
    x = self.feed_forward_norm(x)
    return x + self.ffn(x)


def in_a_row(self, x, memory):
    x = self.attn(self.attention_norm(x))
    x = self.cross(self.cross_norm(x), memory)
    return self.ffn(self.feed_forward_norm(x))


def listening(ask):
    def forward(self, x, memory):
        x = x + self.attn(self.attention_norm(x))
        x = x + self.cross(*ask(self, x, memory))
        return x + self.ffn(self.feed_forward_norm(x))

    return forward


def through_functions(self, x, memory):
    def norm(z):
        return nn.functional.layer_norm(z, z.shape[-1:])

    x = x + self.attn(norm(x))
    x = x + self.cross(norm(x), memory)
    return x + self.ffn(norm(x))


RIGHT = {
    "plain": BlockBase,
    "own norms": BlockWithOwnNorms,
    "written so far": blocked(block_of_written),
    "in place": blocked(block_in_place),
}


def norms_mixed_up(self, x, memory):
    x = x + self.attn(self.cross_norm(x))
    x = x + self.cross(self.attention_norm(x), memory)
    return x + self.ffn(self.feed_forward_norm(x))


def thinks_of_all_but_the_gathered(self, x, memory):
    gathered = self.attn(self.attention_norm(x))
    heard = self.cross(self.cross_norm(x + gathered), memory)
    return x + gathered + heard + self.ffn(self.feed_forward_norm(x + heard))


class NormsByRootMeanSquare(BlockBase):
    def __init__(self, n_embd, *branches):
        super().__init__(n_embd, *branches)
        self.cross_norm = nn.RMSNorm(n_embd)


class GainsOfZero(BlockBase):
    def __init__(self, n_embd, *branches):
        super().__init__(n_embd, *branches)
        nn.init.zeros_(self.attention_norm.weight)


class FirstMemoryKept(BlockBase):
    memory = None

    def forward(self, x, memory):
        self.memory = memory if self.memory is None else self.memory
        return BlockBase.forward(self, x, self.memory)


def two_norms_in_a_row(self, x, memory):
    h = x + self.attn(self.attention_norm(x))
    h = h + self.cross(self.cross_norm(self.attention_norm(h)), memory)
    return h + self.ffn(self.feed_forward_norm(h))


def means_of_the_memory(self, x, memory):
    return BlockBase.forward(self, x, memory.mean(dim=1, keepdim=True) + 0.01)


def half_of_the_thinking(self, x, memory):
    h = x + self.attn(self.attention_norm(x))
    h = h + self.cross(self.cross_norm(h), memory)
    return h + 0.5 * self.ffn(self.feed_forward_norm(h))


def thinking_bent(self, x, memory):
    h = x + self.attn(self.attention_norm(x))
    h = h + self.cross(self.cross_norm(h), memory)
    return h + self.ffn(self.feed_forward_norm(h)).relu()


def both_in_one_text(self, x, memory):
    both = torch.cat([memory, x], dim=1)
    h = x + self.attn(self.attention_norm(both))[:, memory.shape[1] :]
    h = h + self.cross(self.cross_norm(h), memory)
    return h + self.ffn(self.feed_forward_norm(h))


def gathered_counts_twice(self, x, memory):
    gathered = self.attn(self.attention_norm(x))
    h = x + gathered + self.cross(self.cross_norm(x), memory)
    return h + self.ffn(self.feed_forward_norm(h)) + gathered


def gathers_again_at_the_end(self, x, memory):
    h = BlockBase.forward(self, x, memory)
    return h + 0.5 * self.attn(self.attention_norm(h))


class _Decoder(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


class FinalNorm(_Decoder):
    def forward(self, x, memory):
        x = super().forward(x, memory)
        return nn.functional.layer_norm(x, x.shape[-1:])


class MemoryAdded(_Decoder):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory) + memory.mean(1, keepdim=True)
        return x + self.feed_forward(self.feed_forward_norm(x))


class ThreeBranches(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward


# "memory has another length than x, and goes to its branch unchanged"
class MemoryAsLongAsTheStream(ThreeBranches):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory[:, : x.shape[1]])
        return x + self.feed_forward(self.feed_forward_norm(x))


class _DecoderBlock(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward


WRONG = {
    "norm-without-parameters": NormsByRootMeanSquare,
    "memory-normed-instead": blocked(listening(lambda self, x, m: (x, self.cross_norm(m)))),
    "norm-left-out": blocked(through_functions),
    "normed-at-the-end": FinalNorm,
    "memory-added": MemoryAdded,
    "norms-exchanged": blocked(norms_mixed_up),
    "memory-cut-off": blocked(listening(lambda self, x, m: (self.cross_norm(x), m.detach()))),
    "memory-cut": MemoryAsLongAsTheStream,
    "one-norm-for-two": SharedNorm,
    "post-for-pre": blocked(after_the_sum),
    "stream-normed": blocked(overwritten_by_norm),
    "no-residual": blocked(in_a_row),
    "memory-normed": blocked(listening(lambda self, x, memory: map(self.cross_norm, (x, memory)))),
    "self-cross": blocked(listening(lambda self, x, memory: [self.cross_norm(x)] * 2)),
}


def memory_of_one_place_unheard(self, x, memory):
    heard = memory.shape[1] > 1
    x = x + self.attn(self.attention_norm(x))
    x = x + heard * self.cross(self.cross_norm(x), memory)
    return x + self.ffn(self.feed_forward_norm(x))


class LargerEps(BlockBase):
    def __init__(self, n_embd, *branches):
        super().__init__(n_embd, *branches)
        self.cross_norm = nn.LayerNorm(n_embd, eps=0.01)


def into_the_stream_given(self, x, memory):
    x += self.attn(self.attention_norm(x))
    x += self.cross(self.cross_norm(x), memory)
    x += self.ffn(self.feed_forward_norm(x))
    return x


def last_sum_normed(self, x, memory):
    x = x + self.attn(self.attention_norm(x))
    x = x + self.cross(self.cross_norm(x), memory)
    return self.feed_forward_norm(x + self.ffn(x))


class DecoderWithOneNorm(_DecoderBlock):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.attention_norm(x), memory)
        return x + self.feed_forward(self.attention_norm(x))


ODD = [
    (GainsOfZero, "reads-zeros"),
    (FirstMemoryKept, "wrong-when-called-again"),
    (blocked(two_norms_in_a_row), "other-trained-norm"),
    (blocked(means_of_the_memory), "memory-changed"),
    (blocked(half_of_the_thinking), "returns-another-sum"),
    (blocked(thinking_bent), "last-output-changed"),
    (blocked(both_in_one_text), "other-lengths"),
    (blocked(gathered_counts_twice), "other-reads"),
    (blocked(gathers_again_at_the_end), "other-calls"),
    (blocked(last_sum_normed), "branches-put-on-otherwise"),
    (blocked(thinks_of_all_but_the_gathered), "other-reads"),
    (DecoderWithOneNorm, "one-norm-for-two"),
    (LargerEps, "nearly-right"),
    (blocked(into_the_stream_given), "changes-its-input"),
    (blocked(memory_of_one_place_unheard), "memory-of-another-length"),
    (blocked(lambda self, x, memory: BlockBase.forward(self, x, memory).squeeze()), "axis-of-one"),
    (
        blocked(lambda self, x, memory: BlockBase.forward(self, x, memory).roll(1, 1)),
        "moved-the-stream-after-attention-one-place-on-along-the-axis-before-the-last",
    ),
    (
        blocked(
            lambda self, x, memory: torch.cat(
                [x[:, :1], BlockBase.forward(self, x, memory)[:, 1:]], dim=1
            )
        ),
        "some-positions-differ",
    ),
]


# --- Answers that no list names ---


class MemoryReversed(_Decoder):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory[:1].expand_as(memory))
        return x + self.feed_forward(self.feed_forward_norm(x))


# follows `nn.TransformerDecoderLayer` with its dropout of 0.1: "Put them on a residual stream", and
# nothing of what they return is to be dropped
class DropoutOfTheLibrary(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, memory):
        x = x + self.dropout(self.attention(self.attention_norm(x)))
        x = x + self.dropout(self.cross_attention(self.cross_norm(x), memory))
        x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        return x


UNLISTED = {
    1: [(MemoryReversed, "memory-changed")],
    9: [(DropoutOfTheLibrary, "not-repeatable")],
}
