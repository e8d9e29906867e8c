"""What is said of a wrong array is true, and nothing is said if nothing is known."""

import numpy as np
import pytest
import torch

from course_judges import equality
from course_judges.wording import numbers_apart
from course_judges.wrong_arrays import comparisons, places, relations
from course_judges.wrong_arrays.comparisons import compared
from course_judges.wrong_arrays.relations import related
from course_tasks.answers import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE
from course_tasks.watching import Watch

RIGHT = np.random.default_rng(0).normal(size=(3, 4, 5))
POSITIVE = np.abs(RIGHT) + 0.1
FOUR, FIVE = np.arange(1, 5), np.arange(1, 6)
INPUT = np.random.default_rng(1).normal(size=RIGHT.shape)


@np.errstate(invalid="ignore")
def test_numbers_are_close_where_numpy_calls_them_so():
    some = [0, 1, 1 + RELATIVE_TOLERANCE / 2, 1 + 3 * RELATIVE_TOLERANCE, 5e-324, 1e30]
    every = np.array([*some, *(-n for n in some), np.inf, -np.inf, np.nan])
    tolerances = {"rtol": RELATIVE_TOLERANCE, "atol": ABSOLUTE_TOLERANCE, "equal_nan": True}
    for one, other in (np.meshgrid(every, every), (every, every), (every[1], every[2])):
        assert (equality.close(one, other) == np.isclose(one, other, **tolerances)).all()


@pytest.mark.parametrize(
    ("mine", "right", "name"),
    [
        (-RIGHT, RIGHT, "sign"),
        (RIGHT * 1.5, RIGHT, "constant-ratio"),
        (RIGHT + 2, RIGHT, "constant-difference"),
        (np.abs(RIGHT), RIGHT, "transformed"),
        (np.log(POSITIVE), POSITIVE, "transformed"),
        (np.zeros_like(RIGHT), RIGHT, "all-alike"),
        (np.repeat(RIGHT[:, :1], 4, axis=1), RIGHT, "all-alike"),
        (RIGHT[:, :4, :4].swapaxes(1, 2), RIGHT[:, :4, :4], "transposed"),
        (RIGHT.swapaxes(1, 2), RIGHT, "transposed"),
        (RIGHT.transpose(2, 0, 1), RIGHT, "axes-permuted"),
        (RIGHT[:, :3, :3].swapaxes(0, 1), RIGHT[:, :3, :3], "axes-permuted"),
        (np.roll(RIGHT, 1, axis=1), RIGHT, "off-by-one-position"),
        (np.roll(RIGHT, -1, axis=1), RIGHT, "off-by-one-position"),
        (RIGHT[..., ::-1], RIGHT, "reversed"),
        (np.concatenate([RIGHT[:1], -2 * RIGHT[1:]]), RIGHT, "some-samples"),
        (RIGHT[:, :-1], RIGHT, "last-missing"),
        (RIGHT[:, 1:], RIGHT, "first-missing"),
        (RIGHT[:, :2], RIGHT, "too-few"),
        (RIGHT, RIGHT[:, :-1], "one-too-many"),
        (RIGHT, RIGHT[:, :-2], "too-many"),
        (RIGHT[None], RIGHT, "axis-of-one"),
        (RIGHT.reshape(3, -1), RIGHT, "another-shape"),
    ],
)
def test_relation_is_named(mine, right, name):
    found = compared(mine, right)
    assert found is not None
    assert found.name == name
    assert found.what.endswith(".")


@pytest.mark.parametrize(
    ("mine", "name"),
    [
        (INPUT, "input-returned"),
        (RIGHT - INPUT, "input-added"),
        (np.exp(RIGHT), "function-taken"),
        (3 * RIGHT + 1, "factor-and-offset"),
        (RIGHT * FOUR[:, None], "rows-scaled"),
        (RIGHT + FOUR[:, None], "rows-shifted"),
        (RIGHT * FIVE, "columns-scaled"),
        (RIGHT + FIVE, "columns-shifted"),
        (np.concatenate([RIGHT[:, :1], RIGHT[:, 1:] ** 3], axis=1), "some-positions"),
        ((RIGHT - RIGHT.mean(-1, keepdims=True)) / RIGHT.std(-1, keepdims=True), "rows-normed"),
        (RIGHT.cumsum(1), "summed-once-more"),
        (np.diff(RIGHT, axis=2, prepend=0), "not-summed"),
        (np.clip(RIGHT, -0.5, 0.5), "clipped"),
        (RIGHT[:, [2, 0, 1, 2]], "places-permuted"),
        (RIGHT[:, :, [1, 0, 2, 4, 3]], "places-permuted"),
        (RIGHT * (1 + 0.01 * np.sin(9 * RIGHT)), "nearly-right"),
        (np.where(RIGHT > 1, 7.0, RIGHT), "one-number-where-wrong"),
        (np.sin(9 * RIGHT) * 0.9, "bounded"),
        (3 * np.abs(np.sin(9 * RIGHT)), "never-negative"),
        (RIGHT * np.exp(np.abs(np.sin(9 * RIGHT))), "all-larger"),
    ],
)
def test_where_an_answer_comes_from_is_named(mine, name):
    found = related(np.asarray(mine), RIGHT, {"x": INPUT})
    assert found is not None
    assert found.name == name
    assert found.what.endswith(".")


TOKENS = np.random.default_rng(2).integers(3, 90, size=(4, 5))
TOKENS[:2, :2] = -100
MARKED = RIGHT > 0


@pytest.mark.parametrize(
    ("mine", "right", "name"),
    [
        (np.where(TOKENS < 0, [[0], [9], [2], [3]], TOKENS), TOKENS, "one-number-missed"),
        (np.where(TOKENS % 2 == 0, 0, TOKENS), TOKENS, "one-number-where-wrong"),
        (TOKENS[:, [0, 2, 1, 3, 4]], TOKENS, "places-permuted"),
        (MARKED | (RIGHT > -1), MARKED, "too-many-true"),
        (MARKED & (RIGHT > 1), MARKED, "too-few-true"),
        (MARKED ^ (np.abs(RIGHT) > 1), MARKED, None),
        (TOKENS + TOKENS.T[:4, :1] % 7 + 1, TOKENS, None),
    ],
)
def test_where_tokens_and_marks_are_wrong_is_named(mine, right, name):
    found = related(mine, right, {})
    assert (found and found.name) == name


@pytest.mark.parametrize(
    ("mine", "name"),
    [
        (FOUR / np.log(2), "constant-ratio"),
        (np.exp(FOUR), "transformed"),
        (FOUR + 0.5, "constant-difference"),
        (np.zeros(4), "all-alike"),
        (FOUR + np.sqrt(FOUR), "all-larger"),
        (FOUR * [1, 0.5, 0.9, 0.2] - 0.1, "all-smaller"),
        (FOUR * [1, 2, 0.5, 1], None),
    ],
)
def test_numbers_of_several_cases_are_compared_together(mine, name):
    found = comparisons.of_numbers(mine, FOUR) or relations.of_numbers(mine, FOUR)
    assert (found and found.name) == name


def test_yes_too_often_is_named_and_both_ways_are_not():
    right = np.array([True, False, False, True])
    assert places.of_questions(right | True, right).name == "too-often-true"
    assert places.of_questions(right & False, right).name == "too-often-false"
    assert places.of_questions(~right, right) is None


def test_nothing_is_said_of_numbers_without_a_relation():
    assert related(3 * np.sin(9 * RIGHT), RIGHT, {"x": INPUT}) is None


def test_order_is_named_only_if_no_simpler_relation_holds():
    shuffled = np.random.default_rng(1).permutation(RIGHT.ravel()).reshape(RIGHT.shape)
    found = compared(shuffled, RIGHT)
    assert found is not None
    assert found.name == "another-order"


@pytest.mark.parametrize("mine", [RIGHT**3, np.full_like(RIGHT, np.nan), RIGHT[:2, :2, :2]])
def test_nothing_is_said_where_nothing_holds(mine):
    assert compared(mine, RIGHT) is None


@pytest.mark.parametrize("one", [1.0, 1e-9, -123456.0, 0.0])
def test_numbers_differ_as_shown(one):
    yours, right = numbers_apart(one, one + 1e-6)
    assert yours != right


class TestWatch:
    @pytest.mark.parametrize(
        ("change", "given"),
        [
            (lambda x: x.add_(1), torch.zeros(2)),
            (lambda x: x.append(1), [torch.zeros(2)]),
            (lambda x: x[0].mul_(2), [torch.ones(2)]),
            (lambda x: x.update(a=2), {"a": 1}),
            (lambda x: x.add(3), {1, 2}),
            (lambda x: x.sort(), ["b", "a"]),
            (lambda x: x.__setitem__(0, np.nan), np.zeros(2)),
        ],
    )
    def test_changed_argument_is_seen_by_its_name(self, change, given):
        watch = Watch()
        watch.on(lambda numbers: change(numbers))(given)
        assert watch.changed == ["numbers"]

    @pytest.mark.parametrize(
        "given", [torch.tensor([torch.nan]), [torch.ones(1), "a"], torch.nn.Linear(2, 2), None]
    )
    def test_what_is_read_only_counts_as_unchanged(self, given):
        watch = Watch()
        watch.on(lambda x: x)(given)
        assert watch.changed == []

    def test_call_is_described_by_sizes_and_numbers(self):
        watch = Watch(describes=True)
        watch.on(lambda x, width, names: None)(torch.zeros(2, 3), 4, names=["a"])
        assert watch.called == "x of shape (2, 3), width = 4"
        assert watch.returned is None

    def test_class_is_left_as_it_is(self):
        assert Watch().on(torch.nn.Linear) is torch.nn.Linear


def test_place_where_only_zeros_stand_is_neither_right_nor_wrong():
    right = np.array([0.0, 1, 2, 3, 4])
    found = related(np.array([0.0, 1, 2, 5, 9]), right, {})
    assert found is not None
    assert found.name == "some-positions"
    assert found.effect.startswith("Right: 1, 2. Wrong: 3, 4. At 0, both answers hold only zeros.")


@pytest.mark.parametrize(("off", "share"), [(0.0122, "2"), (0.0031, "0.4"), (0.019, "2")])
def test_nearly_right_names_a_share_that_bounds_every_number(off, share):
    right = np.arange(1.0, 25).reshape(4, 6)
    signs = np.random.default_rng(0).choice([-1, -0.99, 0.99, 1], size=(4, 6))
    found = related(right * (1 + off * signs), right, {})
    assert found is not None
    assert found.name == "nearly-right"
    assert f"by more than {share} %" in found.what
