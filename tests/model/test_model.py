"""The models do what the chapters say, and the fused forms give the plain ones' numbers."""

import dataclasses
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_lib.errors import ConfigError, ShapeError
from course_lib.model import (
    GPT,
    Bigram,
    Block,
    Config,
    FeedForward,
    FusedMultiHead,
    Head,
    ManyHeads,
    MultiHead,
    OneHead,
    TokensAndPositions,
    count_parameters,
    fuse,
)

B, T, C, H, D, V, BLOCK = 3, 5, 12, 4, 3, 11, 7
CONFIG = Config(vocab_size=V, block_size=BLOCK, n_layer=2, n_head=H, n_embd=C)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(7)


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape)


def tokens(rows: int = B, length: int = T) -> torch.Tensor:
    return torch.randint(0, V, (rows, length))


def language_models() -> dict[str, nn.Module]:
    return {
        "Bigram": Bigram(V),
        "OneHead": OneHead(V, BLOCK, C, D),
        "ManyHeads": ManyHeads(V, BLOCK, C, H),
        "GPT": GPT(CONFIG),
        "fused ManyHeads": fuse(ManyHeads(V, BLOCK, C, H)),
        "fused GPT": fuse(GPT(CONFIG)),
    }


@pytest.mark.parametrize(
    ("setting", "value", "rule"),
    [
        ("vocab_size", 0, "at least 1"),
        ("block_size", -3, "at least 1"),
        ("n_layer", 1.5, "whole number"),
        ("n_head", 5, "must divide n_embd"),
        ("n_embd", True, "whole number"),
        ("dropout", 1.0, "below 1"),
        ("dropout", -0.1, "at least 0"),
        ("dropout", "a fifth", "a number"),
        ("dropout", math.nan, "at least 0"),
    ],
)
def test_config_refuses_an_impossible_setting_by_name_value_and_rule(setting, value, rule):
    with pytest.raises(ConfigError) as refusal:
        dataclasses.replace(CONFIG, **{setting: value})
    message = str(refusal.value)
    assert setting in message
    assert repr(value) in message
    assert rule in message


def test_the_width_that_config_proposes_is_accepted():
    with pytest.raises(ConfigError, match="n_embd = 15 would do"):
        Config(V, BLOCK, 2, n_head=5, n_embd=12)
    assert Config(V, BLOCK, 2, n_head=5, n_embd=15).head_size == 3


@pytest.mark.parametrize("name", language_models())
def test_every_language_model_returns_logits_and_the_mean_loss(name):
    model = language_models()[name]
    x, y = tokens(), tokens()
    logits, loss = model(x)
    assert logits.shape == (B, T, V)
    assert loss is None
    again, loss = model(x, y)
    torch.testing.assert_close(again, logits)
    by_hand = -logits.log_softmax(-1).gather(-1, y.unsqueeze(-1)).mean()
    torch.testing.assert_close(loss, by_hand)


@pytest.mark.parametrize("name", language_models())
def test_a_target_of_minus_100_counts_for_nothing(name):
    model = language_models()[name]
    x, y = tokens(), tokens()
    y[-1, 2:] = -100
    logits, loss = model(x, y)
    counted = y.flatten() >= 0
    expected = F.cross_entropy(logits.flatten(0, 1)[counted], y.flatten()[counted])
    torch.testing.assert_close(loss, expected)


@pytest.mark.parametrize("name", language_models())
def test_answer_does_not_change_when_the_future_does(name):
    model = language_models()[name].eval()
    x = tokens()
    changed = x.clone()
    changed[:, 3:] = (changed[:, 3:] + 1) % V
    before, after = model(x)[0], model(changed)[0]
    torch.testing.assert_close(after[:, :3], before[:, :3])
    assert not torch.allclose(after[:, 3:], before[:, 3:])


@pytest.mark.parametrize("name", language_models())
def test_rows_of_a_batch_do_not_see_each_other(name):
    model = language_models()[name].eval()
    x = tokens()
    alone = torch.cat([model(row.unsqueeze(0))[0] for row in x])
    torch.testing.assert_close(alone, model(x)[0])


@pytest.mark.parametrize("name", [name for name in language_models() if name != "Bigram"])
def test_a_context_that_is_too_long_is_refused_with_the_remedy(name):
    model = language_models()[name]
    with pytest.raises(ShapeError, match=rf"{BLOCK + 1} tokens.*\[:, -{BLOCK}:\]"):
        model(tokens(length=BLOCK + 1))
    model(tokens(length=BLOCK))


def test_bigram_looks_at_the_current_symbol_only():
    model = Bigram(V)
    x = tokens()
    torch.testing.assert_close(model(x)[0], model.table.weight[x])


def test_positions_tell_equal_tokens_apart():
    embedding = TokensAndPositions(V, BLOCK, C)
    same = torch.full((1, T), 2)
    out = embedding(same)[0]
    where = embedding.positions.weight[:T]
    torch.testing.assert_close(out - out[0], where - where[0])
    assert not torch.allclose(out[0], out[1])


def test_head_is_scaled_dot_product_attention():
    head, x = Head(C, D, BLOCK), drawn(B, T, C)
    expected = F.scaled_dot_product_attention(
        head.query(x), head.key(x), head.value(x), is_causal=True
    )
    torch.testing.assert_close(head(x), expected)


def test_weights_of_a_head_are_averages_over_the_past():
    weights = Head(C, D, BLOCK).weights(drawn(B, T, C))
    assert weights.shape == (B, T, T)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T))
    assert torch.equal(weights, weights.tril())


def copied_into_multihead_attention(plain: MultiHead) -> nn.MultiheadAttention:
    twin = nn.MultiheadAttention(C, H, batch_first=True)
    with torch.no_grad():
        rows = [h.query.weight for h in plain.heads] + [h.key.weight for h in plain.heads]
        twin.in_proj_weight.copy_(torch.cat(rows + [h.value.weight for h in plain.heads]))
        twin.in_proj_bias.zero_()
        twin.out_proj.load_state_dict(plain.projection.state_dict())
    return twin


@pytest.mark.parametrize("length", [1, T, BLOCK])
def test_many_heads_are_torchs_multihead_attention(length):
    plain, x = MultiHead(C, H, BLOCK), drawn(B, length, C)
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    expected, _ = copied_into_multihead_attention(plain)(
        x, x, x, attn_mask=future, need_weights=False
    )
    torch.testing.assert_close(plain(x), expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("length", [1, T, BLOCK])
def test_fused_heads_equal_the_list_of_heads(length):
    plain, x = MultiHead(C, H, BLOCK), drawn(B, length, C)
    torch.testing.assert_close(FusedMultiHead.of(plain)(x), plain(x), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["OneHead", "ManyHeads", "GPT"])
def test_fusing_a_model_keeps_its_logits_its_loss_and_the_model(name):
    plain = language_models()[name]
    before = {key: value.clone() for key, value in plain.state_dict().items()}
    fused = fuse(plain)
    assert not any(isinstance(part, MultiHead) for part in fused.modules())
    x, y = tokens(), tokens()
    torch.testing.assert_close(fused(x, y), plain(x, y), atol=1e-6, rtol=1e-5)
    with torch.no_grad():
        for parameter in fused.parameters():
            parameter.zero_()
    assert all(torch.equal(plain.state_dict()[key], value) for key, value in before.items())


def test_fusing_keeps_evaluation_mode_dropout_and_tied_weights():
    config = Config(V, BLOCK, 2, H, C, dropout=0.5, tied=True)
    fused = fuse(GPT(config).eval())
    assert not any(part.training for part in fused.modules())
    assert fused.output.weight is fused.embedding.tokens.weight
    assert {part.p for part in fused.modules() if isinstance(part, nn.Dropout)} == {0.5}


def test_gradients_of_the_fused_model_are_those_of_the_plain_one():
    plain = GPT(CONFIG)
    fused = fuse(plain)
    x, y = tokens(), tokens()
    plain(x, y)[1].backward()
    fused(x, y)[1].backward()
    torch.testing.assert_close(
        fused.embedding.tokens.weight.grad, plain.embedding.tokens.weight.grad, atol=1e-7, rtol=1e-4
    )
    first = plain.blocks[0].attention.heads
    rows = [h.query for h in first] + [h.key for h in first] + [h.value for h in first]
    torch.testing.assert_close(
        fused.blocks[0].attention.query_key_value.weight.grad,
        torch.cat([layer.weight.grad for layer in rows]),
        atol=1e-7,
        rtol=1e-4,
    )


@pytest.mark.parametrize("build", [MultiHead, FusedMultiHead])
def test_dropout_acts_in_training_only(build):
    attention, x = build(C, H, BLOCK, dropout=0.5), drawn(B, T, C)
    assert not torch.allclose(attention(x), attention(x))
    attention.eval()
    torch.testing.assert_close(attention(x), attention(x))


@pytest.mark.parametrize("build", [MultiHead, FusedMultiHead])
def test_heads_that_do_not_divide_the_channels_are_refused(build):
    with pytest.raises(ConfigError, match="n_embd = 12, n_head = 5"):
        build(12, 5, BLOCK)


def test_feed_forward_treats_each_position_by_itself_and_is_not_linear():
    layer, x = FeedForward(C), drawn(B, T, C)
    torch.testing.assert_close(layer(x)[:, 2], layer(x[:, 2]))
    assert not torch.allclose(layer(2 * x) - layer(0 * x), 2 * (layer(x) - layer(0 * x)))


def test_block_is_pre_norm_with_two_norms_and_two_residuals():
    block, x = Block(C, H, BLOCK), drawn(B, T, C)
    nn.init.normal_(block.attention_norm.weight)
    nn.init.normal_(block.feed_forward_norm.weight)
    by_hand = x + block.attention(F.layer_norm(x, (C,)) * block.attention_norm.weight)
    by_hand = by_hand + block.feed_forward(
        F.layer_norm(by_hand, (C,)) * block.feed_forward_norm.weight
    )
    torch.testing.assert_close(block(x), by_hand)


@pytest.mark.parametrize("tied", [False, True])
def test_the_first_loss_of_a_gpt_is_nearly_that_of_a_uniform_guess(tied):
    config = Config(65, 32, n_layer=4, n_head=4, n_embd=64, tied=tied)
    x, y = torch.randint(0, 65, (8, 32)), torch.randint(0, 65, (8, 32))
    assert abs(GPT(config)(x, y)[1].item() - math.log(65)) < 0.05


@pytest.mark.parametrize("tied", [False, True])
def test_parameter_count_follows_the_formula(tied):
    config = Config(V, BLOCK, 2, H, C, tied=tied)
    a_block = 3 * C * C + (C * C + C) + (4 * C * C + 4 * C) + (4 * C * C + C) + 4 * C
    expected = V * C + BLOCK * C + 2 * a_block + 2 * C + (0 if tied else V * C)
    assert count_parameters(GPT(config)) == expected
    assert count_parameters(fuse(GPT(config))) == expected


@pytest.mark.parametrize("name", language_models())
def test_every_model_can_learn_one_batch_better_than_guessing(name):
    model = language_models()[name]
    x, y = tokens(), tokens()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    for _ in range(60):
        loss = model(x, y)[1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert all(parameter.grad is not None for parameter in model.parameters())
    assert loss.item() < math.log(V) - 0.5
