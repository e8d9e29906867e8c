"""An answer in steps: edits of its lines are told apart, said in the steps' words, and kept in a
table that is the code's own.
"""

import ast
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from course_judges import catalogue as judges
from course_judges.edits import making, matching, operators, sentences, steps, table
from course_judges.judging import Judge, Like
from course_lib.errors import CourseError
from course_tasks import Tells, catalogue, check
from course_tasks.probing import run

pytestmark = pytest.mark.slow

SOURCE = '''def attention_scores(x, w_query, w_key):
    """Right scores."""
    D = w_key.shape[1]  # D
    query = x @ w_query  # the queries (…, T, D)
    key = x @ w_key  # the keys: they answer
    products = query @ key.mT
    return products / math.sqrt(D)  # your scores
'''

VERBS = {
    "added", "applied", "brought", "compared", "divided", "doubled", "exchanged", "filled",
    "halved", "kept", "left", "masked", "moved", "multiplied", "negated", "put", "raised",
    "reversed",
    "rounded", "set", "squared", "subtracted", "transposed", "turned", "used",
}  # fmt: skip

IN_STEPS = [name for name in catalogue.names() if judges.task(name).steps]


def said():
    return {edit.says: edit for edit in steps.edits(SOURCE)}


def test_step_is_a_line_with_a_comment_and_its_value_is_called_so():
    found = steps.steps(SOURCE)
    assert [step.name for step in found] == ["D", "the queries", "the keys", "your scores"]
    assert steps.names(found)["key"] == "the keys"


@pytest.mark.parametrize(
    ("says", "line"),
    [
        ("left out the division by √D in your scores", "    return products"),
        ("left out the root of D in your scores", "    return products / D"),
        ("multiplied instead of dividing by √D in your scores", "products * math.sqrt(D)"),
        ("used half of D instead of √D in your scores", "    return products / (D / 2)"),
        ("used `w_query` instead of `w_key` in the keys", "    key = x @ w_query"),
        ("transposed your scores", "(products / math.sqrt(D)).mT"),
    ],
)
def test_edit_is_said_in_the_words_of_its_step(says, line):
    (changed,) = said()[says].lines.values()
    assert line in changed


def test_same_edit_at_two_steps_alike_is_one_edit():
    both = said()["exchanged `w_query` and `w_key` in the queries and the keys"]
    assert list(both.lines.values()) == ["    query = x @ w_key", "    key = x @ w_query"]
    assert len(said()["set the negative numbers of the queries and the keys to 0"].lines) == 2


def test_what_goes_wrong_at_several_steps_or_in_what_is_returned_is_one_edit():
    source = """def normed(x, table, gain: float):
    positions = torch.arange(len(x))  # the positions
    mean = x.mean(dim=-1, keepdim=True)  # the means
    past = positions[:, None] >= positions  # what lies in the past
    spread = x.var(dim=-1, correction=0, keepdim=True)  # the variances
    rows = table[mean, spread].repeat_interleave(2, dim=0)  # the rows of the table
    return rows, past  # your results
"""
    said = {edit.says: edit for edit in steps.edits(source)}
    axis = said["used axis −2 instead of axis −1 in the means and the variances"]
    assert len(axis.lines) == 2
    assert "exchanged the rows of the table and what lies in the past in your results" in said
    assert "exchanged the indices the means and the variances in the rows of the table" in said
    turns = said["used `repeat` instead of `repeat_interleave` in the rows of the table"]
    assert "torch.cat([table[mean, spread]] * 2, dim=0)" in next(iter(turns.lines.values()))
    # What holds of every edit of a kind is said with it.
    divided = said["divided by n − 1 instead of n for the variance in the variances"]
    assert divided.teaches.endswith("unless you write `correction=0`.")
    # Whole numbers that are only compared, and an argument that is one number.
    assert not any("to the positions" in says for says in said)
    assert not any("`gain`" in says for says, edit in said.items() if edit.operator == "afterwards")


def test_line_without_a_name_is_never_changed_and_none_is_quoted():
    unnamed = SOURCE.splitlines().index("    products = query @ key.mT")
    for says, edit in said().items():
        assert unnamed not in edit.lines
        for line in SOURCE.splitlines()[2:]:
            assert line.partition("#")[0].strip() not in says


def test_phrase_can_follow_you_and_if_you_had():
    """Its verb is the same word in both."""
    verbs = {says.split()[0] for task in IN_STEPS for says in _says(task)}
    assert not verbs - VERBS


def _says(task):
    return [variant.says for variant in table.variants(judges.task(task))]


@pytest.mark.parametrize("task", IN_STEPS)
def test_table_is_that_of_the_code(task):
    known = judges.task(task)
    variants = table.variants(known)
    held = json.loads(table.path_of(known).read_text(encoding="utf-8"))
    assert held["digest"] == making.digest(known), f"python -m course_judges.edits.making {task}"
    assert held["source"] == steps.source_of(known.answer)
    assert set(known.steps) == {step.name for step in steps.steps(held["source"])}
    names = [variant.name for variant in variants]
    assert len(set(names)) == len(names) > 20


@pytest.mark.parametrize("task", IN_STEPS)
def test_every_variant_is_wrong_and_is_told_a_cause(task):
    """Unless a mistake by hand says more, what is said is the variant itself, or one alike; a
    property of the task may be heard before what was done to a value.
    """
    known, probe = judges.task(task), catalogue.probe(task)
    judge = Judge(task, known, probe, judges.inputs(task, np.random.default_rng(11)))
    inputs = judges.inputs(task, np.random.default_rng(11))
    by_hand = {mistake.name for mistake in known.mistakes}
    variants = table.variants(known)
    told = 0
    for variant in variants[:: max(1, len(variants) // 12)]:
        answers = run(probe, variant.answer, inputs).answers
        verdict = judge.verdict(answers)
        assert verdict.points < verdict.out_of, variant.says
        finding = verdict.findings[0]
        evidence = judge._evidence(answers)
        if any(matching.says_nothing(draw, probe) for draw in evidence):
            continue  # it returns an input, or one number everywhere
        told += 1
        if finding.name not in by_hand and finding.name != "changes-its-input":
            assert finding.tells is Tells.CAUSE, (variant.says, finding)
            gives = finding.what.startswith("Your answer gives")
            assert variant.says in finding.what or gives or not variant.step
    assert told > 2


def test_an_edit_that_others_equal_or_may_equal_is_said_as_a_comparison():
    def scores_added(scores, past, start):
        return right(scores, past, start) + scores

    right = judges.task("05/weights").answer
    finding = check("05/weights", scores_added, seed=0).findings[0]
    assert finding.what == "Your answer sees the future."  # which the task looks for itself
    says = "It would be the same if you had added `scores` to your weights."
    assert finding.effect.endswith(says)

    def base_of_two(scores):
        powers = (scores - scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)).exp2()
        return powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)

    finding = check("02/safe-softmax", base_of_two, seed=0).findings[0]
    assert finding.what == "You used `exp2` instead of `exp` in the powers."

    def moved(scores, past, start):
        return right(scores, past, start).roll(1, -1)

    finding = check("05/weights", moved, seed=0).findings[0]
    assert "It would be the same if you had moved " in finding.effect
    assert finding.tells is Tells.CAUSE


def test_what_the_task_itself_looks_for_says_what_an_edit_does_to_the_data():
    """It knows more than what holds of any array, and of the value of a right step it speaks first,
    because that can be changed in other ways than the table's.
    """

    def from_length_one(x, y):
        x, y = (v / v.norm(dim=-1, keepdim=True).clamp(min=1.0) for v in (x, y))
        return x @ y.mT

    def of_centered(at, known, values, width):
        weights = (-torch.cdist(at, known).square() / (2 * width**2)).softmax(dim=-1)
        return weights @ (values - values.mean(dim=0))

    edit = check("02/cosine", from_length_one, seed=0).findings[0]
    assert edit.what == "You used 1 instead of 1e−8 in the directions of x and the directions of y."
    assert "where the shorter of the two lengths is below 1" in edit.effect
    assert edit.effect.endswith("1e-8 is small enough.")

    value = check("02/smoother", of_centered, seed=0).findings[0]
    assert value.what == "You average what was measured minus its mean."
    assert value.effect.endswith(
        "It would be the same if you had subtracted its mean from each row of your weights."
    )
    assert (edit.tells, value.tells) == (Tells.CAUSE, Tells.CAUSE)


def test_answer_that_equals_no_edit_everywhere_is_told_no_edit(monkeypatch):
    right = judges.task("05/weights").answer
    inputs = judges.inputs("05/weights", np.random.default_rng(3))
    T = int(inputs["T"])

    def only_where_nothing_is_cut(scores, past, start):
        weights = right(scores, past, start)
        return weights + scores if len(past) == T else weights

    finding = check("05/weights", only_where_nothing_is_cut, seed=3).findings[0]
    assert finding.name not in {v.name for v in table.variants(judges.task("05/weights"))}


def test_variants_run_only_when_nothing_by_hand_fits(monkeypatch):
    def not_needed(*_):
        raise AssertionError("a mistake by hand fits")

    monkeypatch.setattr(matching, "variants", not_needed)

    def turned(x, w_query, w_key):
        return (x @ w_query) @ (x @ w_key).mT / -(w_key.shape[1] ** 0.5)

    assert check("05/scores", turned, seed=0).findings[0].name == "sign-turned"
    with pytest.raises(AssertionError):
        check("05/scores", lambda x, q, k: ((x @ q) @ (x @ k).mT / q.shape[1] ** 0.5) ** 2, seed=0)


def test_answer_that_returns_what_it_was_given_is_told_no_edit():
    """Many edits may do that, none of which the student made."""
    finding = check("12/rotary", lambda x, *_: x, seed=0).findings[0]
    assert finding.name == "input-returned"


def test_variant_runs_once_for_a_class(monkeypatch):
    known, probe = judges.task("05/weights"), catalogue.probe("05/weights")
    inputs = judges.inputs("05/weights", np.random.default_rng(0))
    judge = Judge("05/weights", known, probe, inputs)
    answers = run(probe, lambda s, p, b: known.answer(s, p, b) + s, inputs).answers
    ran = []
    for variant in table.variants(known):
        monkeypatch.setitem(
            vars(variant), "answer", lambda *given, of=variant: (ran.append(of.name), None)[1]
        )
    judge.verdict(answers)
    first = len(ran)
    judge.verdict(answers)
    assert 0 < first == len(ran)


def test_mistake_like_a_variant_has_it_as_its_answer_and_an_unknown_one_is_refused():
    known = judges.task("05/scores")
    mistake = next(one for one in known.mistakes if one.name == "sign-turned")
    (variant,) = (v for v in table.variants(known) if v.says == "turned the sign of your queries")
    assert mistake.answer is variant.answer
    unknown = replace(known, mistakes=(replace(mistake, answer=Like("no-such-edit")),))
    with pytest.raises(CourseError, match="no such variant"):
        table.with_variants(unknown)
    also = replace(known, mistakes=(replace(mistake, also=(Like(variant.name),)),))
    assert table.with_variants(also).mistakes[0].also == (variant.answer,)


def test_steps_without_a_table_say_how_to_make_it(monkeypatch, tmp_path):
    monkeypatch.setattr(table, "path_of", lambda _: tmp_path / "scores.json")
    with pytest.raises(CourseError, match=r"python -m course_judges\.edits\.making"):
        table.variants(judges.task("05/scores"))


def test_variant_that_does_not_end_is_dropped():
    with making._at_most(0.05) as limit:
        while True:
            pass
    assert limit.reached


def test_operators_say_what_they_are_and_change_nothing_else():
    node = ast.parse("x.softmax(dim=-1)", mode="eval").body
    words = set()
    for change in operators.misreadings(node):
        new = change.make(ast.parse("x.softmax(dim=-1)", mode="eval").body)
        words.add(sentences.phrase(change.operator, node, new, "your weights", {}))
    assert "used axis −2 instead of axis −1 for the softmax in your weights" in words
    assert "used the softmax twice in your weights" in words
    assert "left out the softmax in your weights" not in words  # a slip, and not a misreading
