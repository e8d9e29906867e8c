"""The mutants with which judges are tried are what they claim, and their fates are told apart."""

import ast

import numpy as np
import pytest

from benchmarks import mutant_runs
from benchmarks import mutants as command
from benchmarks.mutant_draws import Draw, survives
from benchmarks.solutions import BEGIN, solutions
from course_judges import catalogue as judges
from course_judges.edits.operators import Mutant, mutants
from course_judges.evidence import same_case
from course_tasks import catalogue
from course_tasks.ch10_jax.sides import InTorch
from course_tasks.probing import passes, run

# Other mutants are drawn with another; all of them are tried by `python -m benchmarks.mutants`.
SEED = 1

SOURCE = '''def past_means(x, width):
    """Means of the last few."""
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T))[:, :width]
    if width < 1:
        raise ValueError(width)
    return weights / weights.sum(dim=-1, keepdim=True)
'''


def changes():
    return [mutant.change for mutant in mutants(SOURCE)]


@pytest.mark.parametrize(
    "change",
    [
        "`-1` → `1`",
        "`width < 1` → `width <= 1`",
        "`weights / weights.sum(dim=-1, keepdim=True)` → `weights * weights.sum(dim=-1, "
        "keepdim=True)`",
        "`weights.sum(dim=-1, keepdim=True)` → `weights.sum(dim=-1)`",
        "`weights.sum(dim=-1, keepdim=True)` → `weights.mean(dim=-1, keepdim=True)`",
        "`:width` → `:width + 1`",
        "`width` → `T`",
        "`T = x.shape[1]` → `nothing`",
        "`torch.tril(torch.ones(T, T))` → `torch.triu(torch.ones(T, T))`",
    ],
)
def test_slip_is_among_the_changes(change):
    # Long pieces are shown in part, as in the report.
    assert any(change.startswith(made[:30]) and change[-12:] == made[-12:] for made in changes())


def test_each_mutant_is_another_program_that_differs_in_one_place():
    made = list(mutants(SOURCE))
    assert len({mutant.source for mutant in made}) == len(made) > 20
    for mutant in made:
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(SOURCE))
        assert "Means of the last few." in mutant.source  # a docstring is no answer


def test_only_the_solutions_lines_are_changed():
    made = list(mutants(SOURCE, range(5, 7)))
    assert made
    assert {mutant.line for mutant in made} <= {5, 6}


def solved(task):
    return next(one for one in solutions() if one.task == task)


def test_every_task_has_a_solution_that_can_be_changed():
    for one in solutions():
        assert next(mutants(one.source, one.lines), None), one.task


@pytest.mark.slow  # three of them use up their time
def test_fates_are_told_apart(monkeypatch):
    monkeypatch.setattr(mutant_runs, "PROCESSOR_SECONDS", 1.0)
    one = solved("01/running-sum")
    head = one.source.partition(BEGIN)[0].rstrip(" ")
    probe = catalogue.probe(one.task)
    asked_of = passes(judges.inputs(one.task, np.random.default_rng(0)))
    asked_once = len(probe.cases) * (len(asked_of) + 1)  # the first pass alone, and all of them
    bodies = {
        "survives": "    return x.cumsum(dim=-1)\n",
        "killed": "    return x.cumsum(dim=1)\n",
        "endless": "    while True:\n        pass\n",
        "endless from the second draw on": f"    calls = globals().setdefault('calls', [])\n"
        f"    calls.append(x)\n    while len(calls) > {asked_once}:\n        pass\n"
        "    return x.cumsum(dim=-1)\n",
        "raises": "    raise SystemExit\n",
        "killer": "    import os\n    os._exit(0)\n",
    }
    asked = mutant_runs.trial_of(one, draws=3)
    fates = {
        name: mutant_runs.fate_of(one, Mutant(1, name, head + body), asked)
        for name, body in bodies.items()
    }
    assert fates["survives"].state == "survives"
    for name in ("killed", "endless", "raises", "killer"):
        assert fates[name].state == "killed", name
    assert fates["endless"].ended == "endless"
    late = fates["endless from the second draw on"]
    assert (late.state, late.survived, late.ended) == ("lucky", 1, "endless")
    assert fates["killer"].ended == "ended its process"


def test_mutants_that_share_a_process_have_the_fates_of_those_that_do_not(monkeypatch):
    one = solved("01/running-sum")
    head = one.source.partition(BEGIN)[0].rstrip(" ")
    right = "    return x @ torch.triu(torch.ones(x.shape[-1], x.shape[-1]))\n"
    bodies = {
        "survives": right,
        "killed": "    return x.cumsum(dim=1)\n",
        "has a cell that fails": "    pass\nraise ValueError\n",
        "spoils what the solution needs": f"    torch.triu = torch.tril\n{right}",
    }
    survives, killed, fails, spoils = (Mutant(1, n, head + body) for n, body in bodies.items())
    asked = mutant_runs.trial_of(one, draws=2)

    def states(*several):
        return [fate.state for fate in mutant_runs.fates_together(one, several, asked)]

    assert states(spoils, survives) == ["killed", "survives"]
    monkeypatch.delattr(mutant_runs, "fate_of")  # the others need no process of their own
    assert states(killed, fails, survives) == ["killed", "killed", "survives"]


def test_mutant_is_asked_no_more_when_a_part_is_lost():
    task, probe = judges.task("10/step"), catalogue.probe("10/step")
    draw = Draw.of("10/step", seed=0)
    calls = []

    def counted(answer):
        def call(*args):
            calls.append(args)
            return answer.answer(*args)

        return InTorch(call)

    assert survives(counted(task.answer), draw)
    assert len(calls) == 4 * len(probe.cases)  # the first pass, and then all three
    for known in task.mistakes:
        if isinstance(known.answer, InTorch):
            calls.clear()
            assert not survives(counted(known.answer), draw), known.name
            if known.name == "divides-by-a-norm-of-zero":  # right, but at the edge
                assert len(calls) == 4 * len(probe.cases)
                continue
            wrong_from = next(
                number
                for number, case in enumerate(probe.cases, 1)
                if not same_case(
                    run(probe, known.answer, draw.first).answers, draw.right.answers, case
                )
            )
            assert len(calls) == wrong_from, known.name


def test_order_of_heads_and_query_key_and_value_shows_in_every_draw_of_convert():
    # `reshape(n_head, 3, …)` for `reshape(3, n_head, …)` is the same with three heads.
    draws = (catalogue.probe("10/convert").inputs(np.random.default_rng(n)) for n in range(40))
    assert all(int(one["H"]) != 3 and one["H"] != one["D"] for one in draws)


@pytest.mark.slow
def test_listed_equivalents_are_mutants_of_the_solution_and_have_a_reason():
    listed = command.known_equivalents()
    made = {
        (one.task, one.line(mutant), mutant.change)
        for one in solutions()
        if one.task in {task for task, _, _ in listed}
        for mutant in mutants(one.source, one.lines)
    }
    assert not set(listed) - made
    assert all(len(reason) > 20 for reason in listed.values())


@pytest.mark.slow
@pytest.mark.parametrize("chapter", ["01", "02", "03", "04"])
def test_sampled_mutants_are_killed_or_known_to_be_equivalent(chapter):
    solved = [one for one in solutions() if one.task.startswith(chapter)]
    work = command.sample(solved, count=len(solved), seed=SEED)
    known = command.known_equivalents()
    for fate in mutant_runs.fates(work, draws=2, jobs=1):
        killed = fate.state == "killed" or (fate.task, fate.line, fate.change) in known
        assert killed, f"{fate.task}: {fate.change} in {fate.line}"
