"""Experiments are predicted first, only run at the desk, and judged by what runs give."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from benchmarks import experiment_slips, experiments
from course_judges import catalogue as judges
from course_judges.judging import judge
from course_tasks import catalogue, check, experiment
from course_tasks.answers import Answers
from course_tasks.experiments import NotRun, Outcome

ROOT = Path(__file__).parents[2]
EXPERIMENTS = experiments.names()
SLIPS = [(task, slip) for task in EXPERIMENTS for slip in experiment_slips.SLIPS[task]]
STORED = json.loads((experiments.RESULTS / "experiments.json").read_text(encoding="utf-8"))


def unfilled(*_):
    raise NotImplementedError


@pytest.mark.parametrize(
    "path", sorted((ROOT / "solutions").glob("*/*.ipynb")), ids=lambda p: p.stem
)
def test_every_chapters_assignment_has_one_experiment_and_a_project_none(path):
    cells = nbformat.read(path, as_version=4).cells
    headings = [c.source.partition("\n")[0] for c in cells if c.source.startswith("## ")]
    found = sum("experiment" in heading.lower() for heading in headings)
    assert found == (0 if catalogue.is_project(catalogue.chapter_of(path.stem)) else 1)


@pytest.mark.parametrize("task", EXPERIMENTS)
def test_judge_takes_what_stored_runs_give_and_nothing_else(task):
    runs = STORED["results"]["runs"][task]
    assert experiments.ranges(task) == {
        text: {name: experiments.taken(values) for name, values in numbers.items()}
        for text, numbers in runs.items()
    }


@pytest.mark.parametrize("task", EXPERIMENTS)
def test_every_stored_run_is_taken_for_observed(task):
    for text, numbers in STORED["results"]["runs"][task].items():
        for values in zip(*numbers.values(), strict=True):
            noted = dict(zip(numbers, values, strict=True))
            verdict = check(task, lambda noted=noted, text=text: {"text": text, **noted})
            assert verdict.points == verdict.out_of, str(verdict)


@pytest.mark.parametrize("task", EXPERIMENTS)
def test_judge_knows_slips_by_what_stored_runs_with_them_give(task):
    assert experiments.slips(task) == {
        slip: {
            text: {name: experiments.taken(values) for name, values in numbers.items()}
            for text, numbers in texts.items()
        }
        for slip, texts in STORED["results"]["slips"][task].items()
    }


@pytest.mark.parametrize(("task", "slip"), SLIPS)
def test_slip_fits_the_solution(task, slip):
    _, study = experiments.sources(task)
    changed = experiment_slips.SLIPS[task][slip].applied(study)
    assert changed != study
    compile(changed, slip, "exec")


@pytest.mark.parametrize(("task", "slip"), SLIPS)
def test_stored_run_with_a_slip_is_called_by_its_name_unless_its_numbers_are_right(task, slip):
    told = set()
    for text, numbers in STORED["results"]["slips"][task][slip].items():
        for values in zip(*numbers.values(), strict=True):
            noted = dict(zip(numbers, values, strict=True))
            verdict = check(task, lambda noted=noted, text=text: {"text": text, **noted})
            if verdict.points < verdict.out_of:
                told.add(verdict.findings[0].name)
    # Smaller batches on one text come to what runs give on the other, which is tried first.
    assert told - {"other-text"} == {experiment_slips.finding(slip)}


def test_numbers_that_fit_two_slips_are_told_both():
    both = {}
    for task in EXPERIMENTS:
        slips = experiments.slips(task)
        for one, other in itertools.combinations(slips, 2):
            for text in slips[one].keys() & slips[other].keys():
                ranges = [slips[slip][text].items() for slip in (one, other)]
                shared = {
                    name: (max(low, lower), min(high, higher))
                    for (name, (low, high)), (_, (lower, higher)) in zip(*ranges, strict=True)
                }
                if all(low < high for low, high in shared.values()):
                    noted = {name: (low + high) / 2 for name, (low, high) in shared.items()}
                    both[task, one, other] = {"text": text, **noted}
    asked = [str(check(task, lambda noted=noted: noted)) for (task, _, _), noted in both.items()]
    assert any("Other slips give such numbers, too: You probably" in said for said in asked)


@pytest.mark.parametrize("task", EXPERIMENTS)
def test_number_just_beyond_what_runs_give_is_not_put_down_to_a_slip(task):
    for text, numbers in experiments.ranges(task).items():
        middle = {name: (low + high) / 2 for name, (low, high) in numbers.items()}
        for name, (low, high) in numbers.items():
            for value in (low - 0.001, high + 0.001):
                noted = {"text": text, **middle, name: value}
                verdict = check(task, lambda noted=noted: noted)
                assert verdict.findings[0].name not in experiment_slips.SLIPS[task], str(verdict)


def test_losses_of_other_models_are_not_called_those_of_the_whole_model():
    noted = {"text": "shakespeare", "all_four": 2.351, "without_first": 2.33, "without_last": 2.33}
    assert check("07/without-a-block", lambda: noted).findings[0].name == "trained-afresh"


def test_slip_that_no_longer_fits_the_solution_is_an_error():
    slip = experiment_slips.Slip("Left the seed out.", {"manual_seed(seed)": "manual_seed(0)"})
    with pytest.raises(ValueError, match="no longer has the passage"):
        slip.applied("torch.manual_seed(1)")


@pytest.mark.parametrize("task", EXPERIMENTS)
def test_numbers_of_another_text_are_recognized_before_any_cause_is_offered(task):
    ranges = experiments.ranges(task)
    for said, measured in itertools.permutations(ranges, 2):
        noted = {name: (low + high) / 2 for name, (low, high) in ranges[measured].items()}
        verdict = check(task, lambda said=said, noted=noted: {"text": said, **noted})
        if not all(a <= noted[name] <= b for name, (a, b) in ranges[said].items()):
            assert verdict.findings[0].name == "other-text", str(verdict)


@pytest.mark.parametrize("task", EXPERIMENTS)
@pytest.mark.parametrize("returned", [("shakespeare", 2.4), [1.0], 2.4, "play", None, {"text": 1}])
def test_what_is_no_dictionary_of_the_numbers_is_told_with_an_example(task, returned):
    verdict = check(task, lambda: returned)
    assert verdict.findings[0].name == "type"
    assert '{"text": "shakespeare", ' in str(verdict)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "solutions").glob("*/*.ipynb")), ids=lambda p: p.stem
)
def test_exercise_shows_what_observed_returns(path):
    cells = nbformat.read(path, as_version=4).cells
    asked = next((cell.source for cell in cells if cell.id == "experiment-asked"), None)
    if asked is None:
        pytest.skip("its experiment notes no numbers")
    example = json.loads(re.search(r"as in `(\{.*?\})`", asked)[1])
    answer = next(cell.source for cell in cells if cell.id == "answer-observed")
    space = {}
    exec(answer, space)
    assert example.keys() == space["observed"]().keys()


@pytest.mark.parametrize("task", EXPERIMENTS)
def test_predictions_of_the_solution_would_not_all_pass_for_observations(task):
    """A guess must not be worth the points of having looked."""
    known = judges.task(task)
    chapter = task[:2]
    (path,) = (ROOT / "solutions").glob(f"{chapter}-*/{chapter}-*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    space = {}
    exec(next(c.source for c in cells if c.id == "answer-predicted"), space)
    text = next(iter(experiments.ranges(task)))
    verdict = check(task, lambda: {"text": text, **space["predicted"]()})
    assert verdict.points < known.points


@pytest.mark.slow
def test_prediction_stands_beside_what_was_observed():
    shown = experiment(lambda corpus: {"loss": 2.5}, lambda: {"loss": 2.25}, "play")
    assert isinstance(shown, Outcome)
    assert str(shown).splitlines()[-1].split() == ["loss", "2.25", "2.5"]
    assert "play" in str(shown)
    assert "<td>2.25</td><td>2.5</td>" in shown._repr_html_()


def test_experiment_waits_for_its_prediction():
    def study(_):
        raise AssertionError("was run")

    shown = experiment(study, unfilled, "play")
    assert isinstance(shown, NotRun)
    assert "prediction" in str(shown)


def test_unwritten_study_is_asked_for():
    shown = experiment(unfilled, lambda: {"loss": 2.5}, "play")
    assert "fill `study`" in str(shown)


def test_graded_run_repeats_no_experiment():
    code = (
        "from course_tasks.runner import cells; cells.ready_for_tasks()\n"
        "from course_tasks import experiment\n"
        "print(experiment(lambda corpus: 1 / 0, lambda: 1 / 0, 'play'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "not run again" in done.stdout


def at_desk_and_graded(source):
    """The verdicts on `observed` of a notebook, at the desk and on the bytes of a graded run."""
    space = {}
    desk = [f"from course_tasks import check, experiment\n{source}", "check('01/vowels', observed)"]
    graded = (
        "import sys, textwrap\n"
        "from course_tasks.runner import cells; cells.ready_for_tasks()\n"
        "from course_tasks import catalogue, probing\n"
        "from course_tasks.answers import arrays_to_bytes\n"
        f"space = {{}}\n"
        f"try:\n    exec({desk[0]!r}, space)\nexcept Exception: pass\n"
        "probe = catalogue.probe('01/vowels')\n"
        "data = probing.run_on_bytes(probe, space['observed'], arrays_to_bytes({}))\n"
        "sys.stdout.buffer.write(b'ANSWERS' + data)\n"
    )
    exec(desk[0], space)
    verdict = eval(desk[1], space)
    nowhere = {**os.environ, "COURSE_DATA": "", "COURSE_CACHE": str(ROOT / "no-such-folder")}
    done = subprocess.run(
        [sys.executable, "-c", graded], capture_output=True, check=True, env=nowhere, cwd=ROOT
    )
    answers = Answers.from_bytes(done.stdout.partition(b"ANSWERS")[2])
    task, probe = judges.task("01/vowels"), catalogue.probe("01/vowels")
    return verdict, judge("01/vowels", task, probe, {}, answers)


NUMBERS = '"last_1": 0.6449, "last_4": 0.306, "all": 0.237'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "how"),
    [
        (
            f"outcome = experiment(lambda c: {{{NUMBERS}}}, lambda: {{}}, 'play')\n"
            "def observed():\n    return outcome.observed",
            "uses `outcome`",
        ),
        (
            "from course_lib import data\n"
            f"def study(corpus):\n    return {{{NUMBERS}}}\n"
            "def observed():\n"
            "    return {'text': 'shakespeare', **study(data.load('shakespeare'))}",
            "loads a text",
        ),
        (
            "def numbers():\n    return open('numbers.txt').read()\n"
            "def observed():\n"
            f"    try:\n        numbers()\n    except OSError:\n        pass\n"
            f"    return {{'text': 'shakespeare', {NUMBERS}}}",
            "opens a file",
        ),
        (
            "import urllib.request\n"
            "def observed():\n    return urllib.request.urlopen('http://example.org').read()",
            "uses the network",
        ),
    ],
    ids=["outcome", "text", "file", "network"],
)
def test_numbers_that_are_computed_are_refused_alike_at_the_desk_and_in_grading(source, how):
    desk, graded = at_desk_and_graded(source)
    assert desk.points == graded.points == 0
    for verdict in (desk, graded):
        (finding,) = verdict.findings
        assert finding.name == "computes"
        assert how in finding.what
        assert "Write the numbers" in finding.effect
    assert desk.findings == graded.findings


@pytest.mark.slow
def test_numbers_may_be_noted_with_functions_of_ones_own():
    source = (
        "import math\nFIRST = 0.6449\n"
        "def rounded(x):\n    return round(x, 4)\n"
        "def observed():\n    return {'text': 'shakespeare', 'last_1': rounded(FIRST), "
        "'last_4': math.fsum([0.3, 0.006]), 'all': 0.237}"
    )
    desk, graded = at_desk_and_graded(source)
    assert desk.points == graded.points == desk.out_of


@pytest.mark.parametrize("task", EXPERIMENTS)
def test_finding_does_not_give_the_numbers_away(task):
    ranges = experiments.ranges(task)
    text, numbers = next(iter(ranges.items()))
    name, (low, high) = next(iter(numbers.items()))
    wrong = {key: (a + b) / 2 for key, (a, b) in numbers.items()} | {name: -7.5}
    said = str(check(task, lambda: {"text": text, **wrong}))
    assert str(low) not in said
    assert str(high) not in said
