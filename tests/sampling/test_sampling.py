"""Sampling keeps its promises at the edges, and a cache changes the time, not the text."""

import math

import pytest
import torch
from torch import nn

from course_lib.data import Vocabulary
from course_lib.errors import ConfigError, NonFiniteLossError, ShapeError, UnknownSymbolError
from course_lib.model import GPT, Bigram, Config, fuse
from course_lib.sampling import CachedGPT, evaluation_mode, generate, next_probabilities, write

VOCABULARY = Vocabulary("\n abcdefgh")
V = len(VOCABULARY)
LOGITS = torch.tensor([0.4, 0.1, 0.3, 0.2]).log()


def gpt(dropout: float = 0.0, block_size: int = 12) -> GPT:
    torch.manual_seed(3)
    model = GPT(Config(V, block_size, n_layer=2, n_head=2, n_embd=8, dropout=dropout))
    with torch.no_grad():  # untrained logits are all alike: these are not
        for parameter in model.parameters():
            parameter.mul_(8)
    return model.eval()


def seeded(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def prompts(rows: int = 3, length: int = 4) -> torch.Tensor:
    return torch.randint(0, V, (rows, length), generator=seeded())


class Recorder(nn.Module):
    """Answers with fixed logits and remembers the contexts that it was given."""

    def __init__(self, block_size: int):
        super().__init__()
        self.block_size = block_size
        self.logits = nn.Parameter(torch.zeros(V))
        self.contexts: list[torch.Tensor] = []

    def forward(self, tokens, targets=None):
        self.contexts.append(tokens.clone())
        return self.logits.expand(*tokens.shape, V), None


def test_without_settings_the_distribution_is_the_models():
    torch.testing.assert_close(next_probabilities(LOGITS), torch.tensor([0.4, 0.1, 0.3, 0.2]))


def test_temperature_divides_the_logits():
    expected = (LOGITS / 0.5).softmax(-1)
    torch.testing.assert_close(next_probabilities(LOGITS, temperature=0.5), expected)


@pytest.mark.parametrize("temperature", [0, 0.0, 1e-3, 1e-30, 1e-320])
def test_temperature_towards_zero_closes_in_on_the_most_likely_symbol(temperature):
    probabilities = next_probabilities(LOGITS * 100, temperature)
    assert probabilities.tolist() == [1, 0, 0, 0]


def test_a_large_temperature_is_nearly_uniform_over_what_top_k_leaves():
    probabilities = next_probabilities(LOGITS, 1e6, top_k=3)
    torch.testing.assert_close(probabilities, torch.tensor([1 / 3, 0, 1 / 3, 1 / 3]))


def test_top_k_keeps_the_k_most_likely():
    expected = torch.tensor([4 / 7, 0, 3 / 7, 0])
    torch.testing.assert_close(next_probabilities(LOGITS, top_k=2), expected)


@pytest.mark.parametrize("top_k", [4, 5, 1000])
def test_top_k_of_v_or_more_changes_nothing(top_k):
    assert torch.equal(next_probabilities(LOGITS, top_k=top_k), next_probabilities(LOGITS))


@pytest.mark.parametrize("top_k", [0, -1, 2.0, True])
def test_top_k_that_leaves_nothing_is_refused(top_k):
    with pytest.raises(ConfigError, match=r"top_k = .*None switches it off"):
        next_probabilities(LOGITS, top_k=top_k)


def test_top_p_keeps_the_symbol_that_crosses_p():
    # 0.4 + 0.3 = 0.7 < 0.75: the third crosses
    expected = torch.tensor([0.4, 0, 0.3, 0.2]) / 0.9
    torch.testing.assert_close(next_probabilities(LOGITS, top_p=0.75), expected)
    expected = torch.tensor([4 / 7, 0, 3 / 7, 0])
    torch.testing.assert_close(next_probabilities(LOGITS, top_p=0.65), expected)


@pytest.mark.parametrize("top_p", [0, 0.0, 1e-9, 0.39])
def test_top_p_towards_zero_is_greedy(top_p):
    assert next_probabilities(LOGITS, top_p=top_p).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("top_p", [1, 1.0])
def test_top_p_of_one_changes_nothing(top_p):
    assert torch.equal(next_probabilities(LOGITS, top_p=top_p), next_probabilities(LOGITS))


def test_top_p_counts_what_top_k_left():
    # of 4/7 and 3/7 the first alone reaches 0.5; of 0.4, 0.3, … it would not
    assert next_probabilities(LOGITS, top_k=2, top_p=0.5).tolist() == [1, 0, 0, 0]
    assert (next_probabilities(LOGITS, top_p=0.5) > 0).sum() == 2


@pytest.mark.parametrize("settings", [{"temperature": 0}, {"top_k": 1}, {"top_p": 0}])
def test_of_equal_symbols_the_first_stays(settings):
    assert next_probabilities(torch.zeros(2, 4), **settings).tolist() == [[1, 0, 0, 0]] * 2


def test_a_logit_of_minus_infinity_is_never_drawn_even_when_k_would_allow_it():
    logits = torch.tensor([0.0, -torch.inf, 0.0])
    assert next_probabilities(logits, top_k=3, top_p=0.999).tolist() == [0.5, 0, 0.5]


@pytest.mark.parametrize("bad", [[math.nan, 0.0], [math.inf, 0.0], [-math.inf, -math.inf]])
def test_logits_that_give_no_distribution_are_refused(bad):
    with pytest.raises(NonFiniteLossError, match="NaN"):
        next_probabilities(torch.tensor([[0.0, 0.0], bad]))


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": -1},
        {"temperature": math.inf},
        {"temperature": math.nan},
        {"top_p": -0.1},
        {"top_p": 1.01},
        {"top_p": math.nan},
    ],
)
def test_a_setting_outside_its_range_is_named_before_anything_is_read(settings):
    model = Recorder(4)
    (name,) = settings
    with pytest.raises(ConfigError, match=f"{name} = "):
        generate(model, prompts(), 2, **settings)
    assert model.contexts == []


def test_symbols_are_drawn_as_often_as_the_distribution_says():
    model = Bigram(V)
    drawn = generate(model, torch.full((20_000, 1), 4), 1, generator=seeded())[:, 1]
    expected = model.table.weight[4].softmax(-1)
    frequencies = torch.bincount(drawn, minlength=V) / len(drawn)
    torch.testing.assert_close(frequencies, expected, atol=0.02, rtol=0)


def test_symbols_that_may_not_be_drawn_are_not():
    model = Bigram(V)
    allowed = next_probabilities(model.table.weight[4], top_k=3, top_p=0.9) > 0
    start = torch.full((5_000, 1), 4)
    drawn = generate(model, start, 1, top_k=3, top_p=0.9, generator=seeded())[:, 1]
    assert set(drawn.unique().tolist()) == set(allowed.nonzero().flatten().tolist())


def test_the_largest_number_that_is_drawn_still_means_a_symbol_of_the_distribution(monkeypatch):
    monkeypatch.setattr(torch, "rand", lambda *size, **_: torch.full(size, 1 - 2.0**-24))
    shares = torch.rand_like(torch.ones(2000, V - 2)) ** 8 + 1e-6
    probabilities = torch.nn.functional.pad(shares / shares.sum(dim=1, keepdim=True), (0, 2))
    model = Recorder(block_size=1)
    model.logits = nn.Parameter(probabilities.log()[:, None])  # (2000, 1, V)
    drawn = generate(model, torch.zeros(2000, 1, dtype=torch.int64), 1)[:, 1]
    assert (probabilities.gather(1, drawn[:, None]) > 0).all()


def test_same_seed_same_text_other_seed_other_text():
    first = generate(gpt(), prompts(), 30, generator=seeded(5))
    assert torch.equal(first, generate(gpt(), prompts(), 30, generator=seeded(5)))
    assert not torch.equal(first, generate(gpt(), prompts(), 30, generator=seeded(6)))


def test_the_global_seed_is_not_touched():
    before = torch.get_rng_state()
    generate(gpt(), prompts(), 5, generator=seeded())
    write(gpt(), VOCABULARY, "abc", 5)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_row_of_a_batch_does_not_depend_on_what_the_others_hold():
    one, other = prompts(), prompts()
    other[1:] = (other[1:] + 1) % V
    texts = [generate(gpt(), batch, 20, generator=seeded()) for batch in (one, other)]
    assert torch.equal(texts[0][0], texts[1][0])


def test_prompts_stay_at_the_start_and_count_tokens_follow():
    text = generate(gpt(), prompts(), 9, generator=seeded())
    assert text.shape == (3, 13)
    assert torch.equal(text[:, :4], prompts())
    assert torch.equal(generate(gpt(), prompts(), 0), prompts())


def test_a_context_longer_than_block_size_is_cut_to_its_end():
    model = Recorder(block_size=5)
    text = generate(model, prompts(length=4), 4, generator=seeded())
    assert [context.shape[1] for context in model.contexts] == [4, 5, 5, 5]
    assert torch.equal(model.contexts[-1], text[:, 2:7])


def test_dropout_is_off_and_every_part_returns_to_its_mode():
    model = gpt(dropout=0.5)
    expected = generate(model, prompts(), 20, generator=seeded())
    model.train()
    model.norm.eval()
    modes = [part.training for part in model.modules()]
    assert torch.equal(generate(model, prompts(), 20, generator=seeded()), expected)
    assert [part.training for part in model.modules()] == modes


def test_evaluation_mode_ends_even_when_an_error_ends_it():
    model = gpt().train()
    with pytest.raises(ShapeError), evaluation_mode(model):
        model(prompts(length=13))
    assert model.training


@pytest.mark.parametrize("form", [lambda model: model, fuse], ids=["plain", "fused"])
@pytest.mark.parametrize("count", [3, 8, 30])
def test_a_cache_changes_no_token_before_or_after_block_size(form, count):
    model = form(gpt())
    without = generate(model, prompts(), count, generator=seeded())
    cached = generate(model, prompts(), count, generator=seeded(), cache=True)
    assert torch.equal(without, cached)


def test_a_cache_reads_in_pieces_what_the_model_reads_at_once():
    model, x = gpt(), prompts(length=12)
    whole = model(x)[0]
    reader = CachedGPT(model, batch_size=3)
    with torch.no_grad():
        pieces = torch.cat([reader(x[:, a:b]) for a, b in [(0, 5), (5, 6), (6, 12)]], dim=1)
    torch.testing.assert_close(pieces, whole, atol=1e-5, rtol=1e-4)
    assert reader.length == 12
    with pytest.raises(ShapeError, match="12 tokens read and 1 more"):
        reader(x[:, :1])


def test_a_cache_forgets_what_its_length_leaves_out():
    model, x = gpt(), prompts(length=9)
    reader = CachedGPT(model, batch_size=3)
    with torch.no_grad():
        reader(x.flip(1))  # drafts, of which the first two are kept
        reader.length = 2
        kept = torch.cat([x.flip(1)[:, :2], x[:, 2:]], dim=1)
        torch.testing.assert_close(reader(x[:, 2:]), model(kept)[0][:, 2:], atol=1e-5, rtol=1e-4)


def test_a_cache_reads_each_token_once(monkeypatch):
    lengths = []
    original = CachedGPT.__call__

    def counted(self, tokens):
        lengths.append(tokens.shape[1])
        return original(self, tokens)

    monkeypatch.setattr(CachedGPT, "__call__", counted)
    generate(gpt(), prompts(length=4), 6, generator=seeded(), cache=True)
    assert lengths == [4, 1, 1, 1, 1, 1]


def test_a_cache_of_a_model_that_has_none_is_refused():
    with pytest.raises(ConfigError, match="Bigram"):
        generate(Bigram(V), prompts(), 3, cache=True)


@pytest.mark.parametrize("shape", [(4,), (2, 0), (1, 2, 3)])
def test_tokens_of_another_shape_are_refused(shape):
    with pytest.raises(ShapeError, match="tokens has shape"):
        generate(gpt(), torch.zeros(shape, dtype=torch.int64), 3)


def test_a_negative_count_is_refused():
    with pytest.raises(ConfigError, match="count = -1"):
        generate(gpt(), prompts(), -1)


def test_write_continues_the_prompt():
    text = write(gpt(), VOCABULARY, "abc", 20, seed=1)
    assert text.startswith("abc")
    assert len(text) == 23
    assert text == write(gpt(), VOCABULARY, "abc", 20, seed=1)
    assert text != write(gpt(), VOCABULARY, "abc", 20, seed=2)


def test_an_empty_prompt_starts_after_the_first_symbol_which_is_not_in_the_answer():
    text = write(gpt(), VOCABULARY, "", 20, seed=1)
    assert len(text) == 20
    assert write(gpt(), VOCABULARY, "\n", 20, seed=1) == "\n" + text


def test_an_unknown_symbol_in_the_prompt_is_named():
    with pytest.raises(UnknownSymbolError, match="Q"):
        write(gpt(), VOCABULARY, "abQ", 5)


def test_a_vocabulary_of_another_size_is_refused():
    with pytest.raises(ShapeError, match=r"knows 10 symbols, the vocabulary 3"):
        write(gpt(), Vocabulary("abc"), "abc", 5)
