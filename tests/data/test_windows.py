"""Promises of the windows."""

import itertools

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from course_lib.data import consecutive_windows, evaluation_windows, random_windows
from course_lib.errors import CorpusTooShortError, ShapeError

LENGTHS, BATCHES, BLOCKS = st.integers(2, 200), st.integers(1, 7), st.integers(1, 20)


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def distinct_tokens(N: int) -> torch.Tensor:
    """N tokens that tell their position: 1000, 1001, …"""
    return torch.arange(1000, 1000 + N)


# Random windows


@given(LENGTHS, BATCHES, BLOCKS, st.integers(0, 2**32))
def test_random_windows_equal_slices_cut_one_by_one(N, B, T, seed):
    assume(N > T)
    tokens = torch.randint(65, (N,), generator=seeded(1))
    x, y = random_windows(tokens, B, T, seeded(seed))
    starts = torch.randint(N - T, (B,), generator=seeded(seed)).tolist()
    assert torch.equal(x, torch.stack([tokens[s : s + T] for s in starts]))
    assert torch.equal(y, torch.stack([tokens[s + 1 : s + T + 1] for s in starts]))
    assert x.dtype == y.dtype == torch.int64


@given(LENGTHS, BATCHES, BLOCKS)
def test_target_is_the_token_after_the_input(N, B, T):
    assume(N > T)
    x, y = random_windows(distinct_tokens(N), B, T)
    assert x.shape == y.shape == (B, T)
    assert torch.equal(y, x + 1)


def test_every_start_is_drawn_and_about_as_often_as_any_other():
    N, T, draws = 12, 4, 8000
    x, y = random_windows(distinct_tokens(N), draws, T, seeded(3))
    starts, counts = x[:, 0].unique(return_counts=True)
    assert starts.tolist() == list(range(1000, 1000 + N - T))
    assert y.max() == 1000 + N - 1  # the last token is a target too
    assert (counts - draws / (N - T)).abs().max() < 5 * (draws / (N - T)) ** 0.5


def test_same_seed_same_batches_whatever_the_global_seed_is():
    tokens = torch.randint(65, (5000,), generator=seeded(1))
    torch.manual_seed(1)
    one = random_windows(tokens, 32, 8, seeded(7))
    torch.manual_seed(2)
    two = random_windows(tokens, 32, 8, seeded(7))
    other = random_windows(tokens, 32, 8, seeded(8))
    assert torch.equal(one[0], two[0])
    assert torch.equal(one[1], two[1])
    assert not torch.equal(one[0], other[0])


def test_a_generator_of_ones_own_leaves_the_global_one_alone():
    state = torch.random.get_rng_state()
    random_windows(distinct_tokens(100), 4, 8, seeded(0))
    assert torch.equal(torch.random.get_rng_state(), state)


# Consecutive windows


@given(LENGTHS, BATCHES, BLOCKS)
def test_each_row_continues_where_it_stopped(N, B, T):
    assume(N > B * T)
    steps = list(consecutive_windows(distinct_tokens(N), B, T))
    assert len(steps) == (N - 1) // (B * T)
    for x, y in steps:
        assert x.shape == y.shape == (B, T)
        assert torch.equal(y, x + 1)
    for (_, before), (after, _) in itertools.pairwise(steps):
        assert torch.equal(after[:, 0], before[:, -1])


@given(LENGTHS, BATCHES, BLOCKS)
def test_rows_are_stretches_side_by_side_and_only_the_end_is_left_out(N, B, T):
    assume(N > B * T)
    steps = list(consecutive_windows(distinct_tokens(N), B, T))
    rows = torch.cat([x for x, _ in steps], dim=1)  # (B, steps · T)
    assert torch.equal(rows.flatten(), distinct_tokens(N)[: rows.numel()])
    assert N - rows.numel() <= B * T  # what is left over would not fill another step
    targets = torch.cat([y for _, y in steps], dim=1).flatten()
    assert len(targets.unique()) == len(targets)


# Evaluation windows


@given(LENGTHS, BLOCKS)
def test_every_token_but_the_first_is_a_target_exactly_once_and_in_order(N, T):
    tokens = distinct_tokens(N)
    x, y = evaluation_windows(tokens, T)
    assert x.shape == y.shape == (-(-(N - 1) // T), T)
    assert x.dtype == y.dtype == torch.int64
    counted = y != -100
    assert torch.equal(y[counted], tokens[1:])
    assert torch.equal(x[counted], tokens[:-1])


@given(LENGTHS, BLOCKS)
def test_padding_stands_only_at_the_end_of_the_last_row_and_is_a_valid_input(N, T):
    x, y = evaluation_windows(distinct_tokens(N), T)
    padding = (y == -100).flatten()
    assert padding.sum() == y.numel() - (N - 1)
    assert padding.sum() < T
    assert not padding[: N - 1].any()
    assert (x.flatten()[N - 1 :] == 0).all()


def test_loss_over_evaluation_windows_is_the_mean_over_all_targets():
    N, T, V = 50, 8, 5
    tokens = torch.randint(V, (N,), generator=seeded(1))
    table = torch.randn(V, V, generator=seeded(2))
    x, y = evaluation_windows(tokens, T)
    loss = torch.nn.functional.cross_entropy(table[x].view(-1, V), y.view(-1))
    whole = torch.nn.functional.cross_entropy(table[tokens[:-1]], tokens[1:])
    torch.testing.assert_close(loss, whole)


# All three


@pytest.mark.parametrize(
    ("B", "T", "N"), [(4, 8, 100), (1, 8, 100), (4, 1, 100), (1, 1, 2), (1, 9, 10)]
)
def test_windows_are_copies_of_their_own(B, T, N):
    tokens = distinct_tokens(N)
    batches = [
        random_windows(tokens, B, T),
        *consecutive_windows(tokens, B, T),
        evaluation_windows(tokens, T),
    ]
    for x, y in batches:
        kept = y.clone()
        assert x.is_contiguous()
        assert y.is_contiguous()
        x.zero_()
        assert torch.equal(y, kept)
        y.zero_()
    assert torch.equal(tokens, distinct_tokens(N))


def cut(kind, tokens, batch_size=4, block_size=8):
    if kind == "random":
        return random_windows(tokens, batch_size, block_size)
    if kind == "consecutive":
        return consecutive_windows(tokens, batch_size, block_size)
    return evaluation_windows(tokens, block_size)


KINDS = pytest.mark.parametrize("kind", ["random", "consecutive", "evaluation"])


@pytest.mark.parametrize(("kind", "least"), [("random", 9), ("consecutive", 33), ("evaluation", 2)])
def test_one_token_too_few_is_an_error_that_names_the_sizes(kind, least):
    cut(kind, distinct_tokens(least))
    with pytest.raises(CorpusTooShortError) as caught:
        cut(kind, distinct_tokens(least - 1))
    message = str(caught.value)
    assert "block_size = 8" in message
    assert f"at least {least} tokens" in message
    assert f"N = {least - 1};" in message


@KINDS
@pytest.mark.parametrize("size", [0, -1])
def test_sizes_below_one_are_refused_at_once(kind, size):
    with pytest.raises(ShapeError, match=f"block_size must be at least 1, got {size}"):
        cut(kind, distinct_tokens(100), block_size=size)
    if kind != "evaluation":
        with pytest.raises(ShapeError, match=f"batch_size must be at least 1, got {size}"):
            cut(kind, distinct_tokens(100), batch_size=size)


@KINDS
@pytest.mark.parametrize("size", [8.0, True])
def test_sizes_are_whole_numbers(kind, size):
    with pytest.raises(TypeError, match="block_size must be a whole number"):
        cut(kind, distinct_tokens(100), block_size=size)


@KINDS
def test_tokens_are_one_row_of_int64(kind):
    with pytest.raises(ShapeError, match=r"\(10, 10\)"):
        cut(kind, distinct_tokens(100).view(10, 10))
    with pytest.raises(TypeError, match=r"torch\.float32"):
        cut(kind, torch.zeros(100))
    with pytest.raises(TypeError, match=r"torch\.uint8"):
        cut(kind, torch.zeros(100, dtype=torch.uint8))
    with pytest.raises(TypeError, match="list"):
        cut(kind, list(range(100)))


@KINDS
def test_tokens_need_not_lie_side_by_side_in_memory(kind):
    spread = torch.arange(400)[::2]
    x, y = next(iter(cut(kind, spread))) if kind == "consecutive" else cut(kind, spread)
    counted = y != -100
    assert torch.equal(y[counted], x[counted] + 2)
