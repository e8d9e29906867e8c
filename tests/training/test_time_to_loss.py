"""The race to a loss treats its sides alike: one evaluation, one search, one rule for the end."""

import dataclasses
import math
import statistics

import pytest
import torch

from benchmarks import time_to_loss
from benchmarks.notebook_loop import NotebookLoop, Published
from benchmarks.time_to_loss import Measurement, costs, found_setting, run_published, run_searched
from benchmarks.time_to_loss_search import FINALISTS, MARGIN, SEEDS, Search
from benchmarks.time_to_loss_settings import PUBLISHED, ROWS, Row, Setting, Side, V, with_steps
from course_lib.data import Corpus, Vocabulary
from course_lib.model import Bigram
from course_lib.training import evaluate


@pytest.fixture
def row(corpus) -> Row:
    """A bigram table on a rhyme, to a loss that some dozens of steps reach."""
    V = len(corpus.vocabulary)
    return Row(
        "bigram table",
        2.2,
        8,
        Published(lambda: Bigram(V), batch_size=8, steps=200, every=10, batches=2, lr=0.05),
        {
            "plain": Side(lambda _: Bigram(V), plain=True),
            "ours": Side(lambda _: Bigram(V)),
        },
        Setting(16, 0.1, 0.99, "one cycle", 60),
        first_seconds=0.02,
        rounds=(3, 3),
        rates=(0.03, 0.3),
    )


def loop(model, corpus, **settings) -> NotebookLoop:
    chosen = {"batch_size": 4, "block_size": 8, "lr": 0.1, "betas": (0.9, 0.99), **settings}
    return NotebookLoop(model, corpus, **chosen)


def test_a_notebooks_targets_are_the_symbols_that_follow(corpus):
    torch.manual_seed(0)
    x, y = loop(Bigram(len(corpus.vocabulary)), corpus).batch("validation")
    assert x.shape == y.shape == (4, 8)
    assert torch.equal(x[:, 1:], y[:, :-1])
    text = corpus.validation.unfold(0, 9, 1)
    for window in torch.cat([x, y[:, -1:]], dim=1):
        assert (text == window).all(dim=1).any()


def test_an_estimate_changes_no_weight_and_leaves_the_model_in_training(corpus):
    model = Bigram(len(corpus.vocabulary))
    before = model.table.weight.clone()
    means = loop(model, corpus).estimate(3)
    assert set(means) == {"train", "validation"}
    assert torch.equal(model.table.weight, before)
    assert model.training


def test_the_norm_of_clipped_gradients_is_the_limit(corpus):
    model = Bigram(len(corpus.vocabulary))
    loop(model, corpus, clip=1e-3).step()
    assert model.table.weight.grad.norm().item() == pytest.approx(1e-3, rel=1e-3)


def test_weight_decay_leaves_out_biases_and_norms_only_if_told(corpus):
    model = torch.nn.Linear(3, 2)
    everything = loop(model, corpus, weight_decay=0.1).optimizer.param_groups
    assert [group["weight_decay"] for group in everything] == [0.1]
    matrices, rest = loop(
        model, corpus, weight_decay=0.1, decay_matrices_only=True
    ).optimizer.param_groups
    assert (matrices["weight_decay"], rest["weight_decay"]) == (0.1, 0.0)
    assert [p.ndim for p in matrices["params"] + rest["params"]] == [2, 1]


def test_the_published_loop_ends_at_the_first_reading_at_the_target(row, corpus):
    result = run_published(row, corpus, seed=0)
    *earlier, last = [loss for _, _, loss in result["readings"]]
    assert result["reached"]
    assert result["loss"] == last <= row.target < min(earlier)
    assert result["counted"]["step"] == 10 * len(earlier)
    assert result["counted"]["estimate"] == len(earlier) + 1
    assert result["counted"]["reading"] == 1


def test_the_published_loop_gives_up_after_its_steps(row, corpus):
    result = run_published(dataclasses.replace(row, target=0.0), corpus, seed=0)
    assert not result["reached"]
    assert result["counted"]["step"] == 200


@pytest.mark.parametrize("side", ["plain", "ours"])
def test_both_loops_take_the_steps_of_a_setting_and_are_read_alike(row, corpus, monkeypatch, side):
    read = []

    def reading(model, tokens, block_size):
        read.append((len(tokens), block_size))
        return evaluate(model, tokens, block_size)

    monkeypatch.setattr(time_to_loss, "evaluate", reading)
    result = run_searched(row, side, corpus, row.first, seed=0)
    assert result["counted"] == {"building": 1, "step": 60, "estimate": 0, "reading": 1}
    assert result["loss"] < math.log(len(corpus.vocabulary)) - 0.5
    assert read == [(len(corpus.validation), 8)]


@pytest.mark.parametrize("side", ["plain", "ours"])
def test_a_search_finds_steps_that_reach_the_target_and_counts_every_training(
    row, corpus, monkeypatch, side
):
    trained = []
    original = Side.train

    def counted(self, model, corpus, T, chosen, seed):
        trained.append((chosen.steps, seed))
        return original(self, model, corpus, T, chosen, seed)

    monkeypatch.setattr(Side, "train", counted)
    found = Search(row, row.sides[side], corpus, side).run()
    assert len(found["trials"]) == 6
    assert len(found["finalists"]) == FINALISTS
    for_costs = 2 * len({trial["setting"]["batch_size"] for trial in found["trials"]})
    assert found["trainings"] == len(trained) - for_costs
    fewest = next(r for r in found["rungs"] if r["steps"] == found["setting"]["steps"])
    assert len(fewest["losses"]) == len(SEEDS)
    assert statistics.mean(fewest["losses"]) <= row.target - MARGIN


def test_costs_are_those_of_one_step_and_one_estimate(row, corpus):
    published = costs(row, PUBLISHED, corpus, None)
    assert min(published.values()) > 0
    ours = costs(row, "ours", corpus, row.first)
    assert ours["estimate"] == 0
    assert 0 < ours["step"] < 1


@pytest.mark.parametrize("name", ROWS)
def test_every_row_has_the_same_model_on_all_sides(name):
    row, symbols = ROWS[name], "".join(map(chr, range(65, 65 + V)))
    tokens = torch.randint(V, (2000,), generator=torch.Generator().manual_seed(0))
    splits = {"train": tokens, "validation": tokens}
    letters = Corpus("letters", symbols, Vocabulary.of(symbols), splits)
    sizes = {sum(p.numel() for p in row.published.build().parameters())}
    sizes |= {
        sum(p.numel() for p in side.build(letters).parameters()) for side in row.sides.values()
    }
    assert len(sizes) == 1
    assert len(row.rounds) == 3
    assert row.rounds[-1] >= FINALISTS


def test_a_side_without_a_search_is_refused_with_the_command(monkeypatch):
    monkeypatch.setattr(time_to_loss, "stored", lambda name: {})
    with pytest.raises(SystemExit, match="--search"):
        found_setting("head", "tuned loop")


def test_a_side_that_misses_its_target_in_the_mean_gets_a_rung_more(monkeypatch):
    asked, kept = [], {}

    def worker(row, side, seed, rungs):
        asked.append((side, seed, rungs))
        better = 0.1 * rungs if side == "tuned loop" else 1.0
        return {
            "seed": seed,
            "loss": ROWS[row].target + 0.05 + 0.01 * seed - better,
            "processor_seconds": 1.0,
            "others_share": 0.0,
        }

    monkeypatch.setattr(time_to_loss, "worker", worker)
    monkeypatch.setattr(time_to_loss, "stored", lambda name: {})
    monkeypatch.setattr(time_to_loss, "write_results", lambda name, what: kept.update(what))
    Measurement().rows(["blocks"], 2, published=1)
    assert [run for run in asked if run[0] == PUBLISHED] == [(PUBLISHED, 0, 0)]
    assert [run for run in asked if run[2]] == [("tuned loop", 0, 1), ("tuned loop", 1, 1)]
    assert kept["rungs_added"] == {"blocks": {"tuned loop": 1}}


def test_more_steps_change_nothing_else_of_a_setting():
    setting = ROWS["blocks"].first
    assert dataclasses.replace(with_steps(setting, 7), steps=setting.steps) == setting
