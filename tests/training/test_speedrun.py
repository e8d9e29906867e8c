"""The speed run learns with every switch on and off, keeps causality, and repeats itself."""

import dataclasses
import inspect
import math

import pytest
import torch

from benchmarks import speedrun
from benchmarks.speedrun import TRICKS, Recipe, SpeedGPT, run
from course_lib.errors import ConfigError, NonFiniteLossError
from course_lib.training import evaluate

SMALL = Recipe(n_head=2, n_embd=16, block_size=16, steps=25, batch_size=8, lr=0.05)
SLOW_TO_START = {"compiled"}


def counted(recipe: Recipe, corpus) -> torch.Tensor | None:
    return corpus.train if recipe.count_order else None


@pytest.mark.parametrize("trick", [t.switch for t in TRICKS if t.switch not in SLOW_TO_START])
@pytest.mark.parametrize("on", [True, False])
def test_it_learns_with_each_trick_switched_on_and_off(corpus, trick, on):
    value = 4 * on if trick == "count_order" else on
    recipe = dataclasses.replace(SMALL, **{trick: value})
    model, history = run(corpus, recipe)
    assert history.validation < math.log(len(corpus.vocabulary)) - 1
    assert history.validation == evaluate(model, corpus.validation, 16)
    assert history.steps == 25


def test_every_trick_is_a_switch_with_what_it_does_and_a_source():
    fields = {field.name for field in dataclasses.fields(Recipe)}
    for trick in TRICKS:
        assert trick.switch in fields
        assert trick.effect
        assert "\n" not in trick.effect
        assert trick.source
        off = getattr(Recipe(count_order=5).without(trick), trick.switch)
        assert not off
        assert off == type(getattr(Recipe(), trick.switch))(0)
    switches = {f.name for f in dataclasses.fields(Recipe) if f.type == "bool"}
    assert switches | {"count_order"} == {trick.switch for trick in TRICKS}


@pytest.mark.parametrize(("count_order", "count_share"), [(0, 0.0), (4, 0.0), (4, 0.5)])
def test_answer_does_not_change_when_the_future_does(corpus, count_order, count_share):
    recipe = dataclasses.replace(
        SMALL, count_order=count_order, count_share=count_share, previous_token=True
    )
    model, _ = run(corpus, recipe)
    x = corpus.validation[:12].unsqueeze(0)
    changed = x.clone()
    changed[0, 7:] = (changed[0, 7:] + 1) % len(corpus.vocabulary)
    before, after = model(x)[0], model(changed)[0]
    torch.testing.assert_close(after[:, :7], before[:, :7])
    assert not torch.allclose(after[:, 7:], before[:, 7:])


def test_fused_and_separate_projections_are_the_same_function(corpus):
    V = len(corpus.vocabulary)
    fused = SpeedGPT(SMALL, V)
    apart = SpeedGPT(dataclasses.replace(SMALL, fused_projections=False), V)
    with torch.no_grad():
        for block in fused.blocks:
            block.merge.weight.normal_()
        fused.output.weight.normal_()
        state = fused.state_dict()
        rows = state.pop("blocks.0.projections.0.weight").split(8)
        state |= {f"blocks.0.projections.{i}.weight": row for i, row in enumerate(rows)}
        apart.load_state_dict(state)
    x = corpus.validation[:16].unsqueeze(0)
    torch.testing.assert_close(apart(x)[0], fused(x)[0])


def test_same_seed_same_losses_and_the_global_generator_is_left_alone(corpus):
    before = torch.get_rng_state()
    losses = [run(corpus, SMALL, seed=seed)[1].losses for seed in (1, 1, 2)]
    assert losses[0] == losses[1]
    assert losses[0] != losses[2]
    assert torch.equal(torch.get_rng_state(), before)


def test_counts_alone_are_a_model_without_a_single_step(corpus):
    model, history = run(corpus, dataclasses.replace(SMALL, n_layer=0, count_order=5))
    assert history.steps == 0
    x, y = corpus.validation[:16].unsqueeze(0), corpus.validation[1:17].unsqueeze(0)
    torch.testing.assert_close(model(x)[0], model.counts.log_probabilities(x))
    assert model(x, y)[1] is not None


def test_a_share_of_the_counts_is_a_mean_of_probabilities_and_the_network_learns_alone(corpus):
    alone, alone_history = run(corpus, SMALL)
    both, history = run(corpus, dataclasses.replace(SMALL, count_order=4, count_share=0.25))
    assert history.losses == alone_history.losses
    x = corpus.validation[:64].view(4, 16)
    counted = both.counts.log_probabilities(x).exp()
    mean = 0.25 * counted + 0.75 * alone(x)[0].softmax(-1)
    torch.testing.assert_close(both(x)[0].softmax(-1), mean)
    assert history.validation < alone_history.validation


def test_counts_need_a_text():
    with pytest.raises(ConfigError, match="count_order"):
        SpeedGPT(dataclasses.replace(SMALL, count_order=3), 10)


def test_a_network_on_counts_is_trained_on_counts_that_have_not_seen_its_targets(
    corpus, monkeypatch
):
    met = []
    original = SpeedGPT.forward

    def watched(self, tokens, targets=None, counts=None):
        if self.training and targets is not None:
            met.append(counts is not None and counts is not self.counts)
            assert (targets[:, : self.recipe.count_order] == -100).all()
        return original(self, tokens, targets, counts)

    monkeypatch.setattr(SpeedGPT, "forward", watched)
    run(corpus, dataclasses.replace(SMALL, count_order=4, steps=6))
    assert met == [True] * 6


def test_a_schedule_by_the_clock_ends_when_the_time_is_over(corpus):
    _, history = run(corpus, SMALL, seconds=0.3, evaluations=3)
    assert history.seconds >= 0.3
    assert len(history.evaluations) >= 2
    assert [e.seconds for e in history.evaluations] == sorted(
        e.seconds for e in history.evaluations
    )


def test_evaluations_are_denser_at_the_start_and_end_with_the_last_step(corpus):
    _, history = run(corpus, SMALL, evaluations=5)
    assert [e.step for e in history.evaluations] == [1, 4, 9, 16, 25]


def test_a_loss_that_is_not_finite_is_reported_with_its_step(corpus, monkeypatch):
    original = SpeedGPT.forward

    def broken(self, *arguments):
        logits, loss = original(self, *arguments)
        return logits, None if loss is None else loss * (math.nan if self.training else 1)

    monkeypatch.setattr(SpeedGPT, "forward", broken)
    with pytest.raises(NonFiniteLossError, match="step 1: the loss is nan"):
        run(corpus, SMALL)


def test_the_recipe_stays_short_enough_to_read():
    lines = inspect.getsource(speedrun).splitlines()
    assert len([line for line in lines if line.strip()]) < 300
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"steps": 0}, "steps = 0"),
        ({"batch_size": -1}, "batch_size = -1"),
        ({"count_share": 0.5}, "count_order = 0"),
        ({"count_share": 0.5, "count_order": 4, "n_layer": 0}, "n_layer = 0"),
        ({"count_share": 1.0, "count_order": 4}, "count_share = 1.0"),
        ({"n_head": 3}, "n_embd = 16, n_head = 3"),
        ({"count_order": 16}, "count_order = 16"),
    ],
)
def test_an_impossible_recipe_is_refused(changed, message):
    with pytest.raises(ConfigError, match=message):
        dataclasses.replace(SMALL, **changed)


def test_dropout_draws_from_the_seed_too(corpus):
    recipe = dataclasses.replace(SMALL, dropout=0.3, steps=6)
    assert run(corpus, recipe)[1].losses == run(corpus, recipe)[1].losses
    assert run(corpus, recipe)[1].losses != run(corpus, SMALL)[1].losses[:6]
