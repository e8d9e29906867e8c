"""Schedules rise, fall, and end where they say."""

import itertools

import pytest

from course_lib.errors import ConfigError
from course_lib.schedules import SCHEDULES, constant, cosine, linear, named, one_cycle

STEPS = 50


def shares(schedule) -> list[float]:
    return [schedule(step, STEPS) for step in range(STEPS)]


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("steps", [1, 2, 3, 50])
def test_every_share_is_between_0_and_1_for_any_number_of_steps(name, steps):
    for step in range(steps):
        assert 0 <= named(name)(step, steps) <= 1


@pytest.mark.parametrize("build", [constant, linear, cosine])
def test_warm_up_rises_in_equal_steps_and_never_from_zero(build):
    rising = shares(build(warm_up=4))[:5]
    assert rising[:4] == pytest.approx([0.2, 0.4, 0.6, 0.8])


def test_constant_stays_at_one():
    assert shares(constant(3))[3:] == [1.0] * (STEPS - 3)


@pytest.mark.parametrize("build", [linear, cosine])
def test_after_the_warm_up_it_falls_to_its_final_share(build):
    falling = shares(build(warm_up=5, final=0.25))[5:]
    assert all(a > b for a, b in itertools.pairwise(falling))
    assert falling[0] > 0.95
    assert falling[-1] == pytest.approx(0.25)


def test_cosine_is_halfway_in_the_middle():
    assert cosine(final=0.0)(STEPS // 2 - 1, STEPS) == pytest.approx(0.5)


def test_one_cycle_rises_to_one_and_falls_towards_its_final_share():
    whole = shares(one_cycle(rise=0.2))
    top = whole.index(max(whole))
    assert top == pytest.approx(10, abs=1)
    assert max(whole) > 0.95
    assert all(a < b for a, b in itertools.pairwise(whole[:top]))
    assert all(a > b for a, b in itertools.pairwise(whole[top:]))
    assert whole[-1] < 0.05


@pytest.mark.parametrize(
    "build",
    [
        lambda: cosine(warm_up=-1),
        lambda: linear(final=2),
        lambda: one_cycle(rise=0),
        lambda: one_cycle(start=-1),
        lambda: named("zigzag"),
    ],
)
def test_impossible_schedules_are_refused(build):
    with pytest.raises(ConfigError):
        build()
