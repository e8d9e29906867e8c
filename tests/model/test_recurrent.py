"""The LSTM and training in order: what is carried, what is cut, what starts blank."""

import itertools

import pytest
import torch

from course_lib import data
from course_lib.errors import ConfigError, CorpusTooShortError, NonFiniteLossError
from course_lib.model import GPT, Config
from course_lib.recurrent import (
    LSTM,
    carried_loss,
    detached,
    in_order,
    train,
)

NAMES = ["".join(letters) for letters in itertools.product("abc", "de", "fgh")]


@pytest.fixture(scope="module")
def corpus():
    return data.of_names("few", NAMES)


@pytest.fixture
def model(corpus):
    torch.manual_seed(0)
    return LSTM(len(corpus.vocabulary), n_embd=6, hidden_size=7)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_reading_in_pieces_with_the_state_carried_is_reading_in_one_go(model, corpus):
    text = corpus.train[None, :17]
    with torch.no_grad():
        whole, _ = model.read(text)
        first, state = model.read(text[:, :6])
        second, _ = model.read(text[:, 6:], state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole)
    torch.testing.assert_close(model(text)[0], whole)


def test_no_gradient_passes_a_detached_state(model, corpus):
    _, state = model.read(corpus.train[None, :6])
    assert all(part.requires_grad for part in state)
    assert not any(part.requires_grad for part in detached(state))
    for part, cut in zip(state, detached(state), strict=True):
        assert torch.equal(part, cut)


def test_rows_continue_within_a_pass_and_names_move_between_passes(corpus):
    batches = list(itertools.islice(in_order(corpus.train, 2, 4, generator=seeded()), 40))
    firsts = [step for step, (*_, first) in enumerate(batches) if first]
    assert firsts == list(range(0, 40, (len(corpus.train) - 1) // (2 * 4)))
    assert len(firsts) > 2
    for (_, y, _), (x, _, first) in itertools.pairwise(batches):
        if not first:
            assert torch.equal(y[:, -1], x[:, 0])
    one, other = (batches[step][0] for step in firsts[:2])
    assert not torch.equal(one, other)


def test_carried_training_starts_each_batch_where_the_last_one_ended(model, corpus, monkeypatch):
    given, found = [], []
    read = LSTM.read

    def spy(self, tokens, state=None):
        given.append(state)
        result = read(self, tokens, state)
        found.append(result[1])
        return result

    monkeypatch.setattr(LSTM, "read", spy)
    steps = 12
    firsts = [f for *_, f in itertools.islice(in_order(corpus.train, 2, 4), steps)]
    train(model, in_order(corpus.train, 2, 4, generator=seeded()), steps=steps, carry=True)
    for step in range(steps):
        if firsts[step]:
            assert given[step] is None
        else:
            assert torch.equal(given[step][1], found[step - 1][1])
            assert not given[step][1].requires_grad
    given.clear()
    train(model, in_order(corpus.train, 2, 4, generator=seeded()), steps=3)
    assert given == [None] * 3


def test_training_lowers_the_loss_and_repeats_itself(model, corpus):
    def run():
        torch.manual_seed(0)
        fresh = LSTM(len(corpus.vocabulary), 6, 7, dropout=0.1)
        return train(fresh, in_order(corpus.train, 2, 8, generator=seeded()), steps=60, lr=0.02)

    history = run()
    assert sum(history.losses[-10:]) < sum(history.losses[:10]) - 1
    assert history.losses == run().losses
    assert history.tokens == 60 * 16


def test_after_each_step_the_history_so_far_is_shown(model, corpus):
    seen = []
    train(model, in_order(corpus.train, 2, 4), steps=3,
          after_step=lambda history: seen.append((history.steps, history.tokens)))  # fmt: skip
    assert seen == [(1, 8), (2, 16), (3, 24)]


def test_training_by_seconds_ends_and_schedules(model, corpus):
    history = train(model, in_order(corpus.train, 2, 4), seconds=0.05)
    assert history.stopped == "seconds"
    assert history.seconds >= 0.05


@pytest.mark.parametrize("N", [2, 41, 1025, 1026, 2500])
def test_loss_in_order_is_the_mean_over_every_target_of_the_text(model, corpus, N):
    text = corpus.train.repeat(-(-N // len(corpus.train)))[:N]
    with torch.no_grad():
        _, whole = model(text[None, :-1], text[None, 1:])
    assert carried_loss(model.eval(), text) == pytest.approx(whole.item(), abs=1e-5)


def test_text_without_a_target_has_no_loss_in_order(model, corpus):
    with pytest.raises(CorpusTooShortError, match="N = 1 "):
        carried_loss(model, corpus.train[:1])


@pytest.mark.parametrize("wrong", [{}, {"steps": 3, "seconds": 1.0}, {"steps": 0},
                                   {"steps": 3, "precision": "float8"}])  # fmt: skip
def test_impossible_trainings_are_refused(model, corpus, wrong):
    with pytest.raises(ConfigError):
        train(model, in_order(corpus.train, 2, 4), **wrong)


def test_model_without_a_state_cannot_carry_one(corpus):
    gpt = GPT(Config(len(corpus.vocabulary), 4, 1, 2, 6))
    with pytest.raises(ConfigError, match="GPT has no state"):
        train(gpt, in_order(corpus.train, 2, 4), steps=1, carry=True)


def test_loss_that_is_no_number_ends_training(model, corpus):
    with torch.no_grad():
        model.output.bias.fill_(float("nan"))
    with pytest.raises(NonFiniteLossError, match="step 1"):
        train(model, in_order(corpus.train, 2, 4), steps=1)
