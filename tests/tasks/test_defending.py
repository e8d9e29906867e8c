"""Questions about a student's own code are right: whoever solves them in a bare Python, from what
stands on the paper alone, finds the key.
"""

import ast
import dataclasses
import functools
import inspect
import itertools
import json
import re

import numpy as np
import pytest
import torch
from students import students_of

from course_judges.defending import asking, choosing, kinds, papers
from course_judges.defending.changes import edits
from course_judges.defending.contract import Option, Paper, Question
from course_judges.defending.own_words import shows_answer
from course_judges.defending.program import Program, program_of
from course_judges.defending.shown import Shown
from course_judges.defending.values import OddValueError, Value, read_value, written
from course_tasks import catalogue
from course_tasks.inputs import seeded, tensor
from course_tasks.probing import Probe
from course_tasks.variant_runs import _as_one, plain, run_variants, run_variants_on_bytes

pytestmark = pytest.mark.slow

# One of each kind of answer: a function, a class with weights, loops, NumPy, whole numbers.
TRIED = [
    ("01/past-mean", "loop"),
    ("05/scores", "einsum"),
    ("05/head", "with biases, layers in another order"),
    ("05/weights", "numpy"),
    ("07/layer-norm", "layer_norm"),
    ("03/windows", "numpy view"),
]


@functools.cache
def asked(task, style, student="ada"):
    """What was found about one right answer of the collection."""
    answer = students_of(task).RIGHT[style]
    module = inspect.getmodule(answer)
    program = program_of([inspect.getsource(module)], answer.__name__)
    seed = choosing.seed_of(1, task, student)
    plan = asking.plan(task, program, seed)
    sent = run_variants_on_bytes(catalogue.probe(task), vars(module), plan.message())
    return asking.found(plan, sent), vars(module)


def all_questions(task, style, student="ada"):
    found, space = asked(task, style, student)
    shown = Shown(found)
    return shown, kinds.questions(shown, np.random.default_rng(0)), space


def changed_code(code, said):
    """The program on the paper, with a change as a question words it."""
    lines = dict(code)
    left_out = re.match(r"(?:You )?[Ll]eave out (lines? [\d–]+)", said)
    becomes = re.match(r"(Lines? [\d–]+) becomes? `(.*?)`(?:\.|$)", said)
    numbers = [int(n) for n in re.findall(r"\d+", (left_out or becomes).group(1))]
    first, last = numbers[0], numbers[-1]
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    new = indent + ("pass" if left_out else becomes.group(2))
    # Of a statement over several lines, the others stay.
    return "\n".join(
        new if n == first else text
        for n, text in sorted(lines.items())
        if n == first or not first < n <= last
    )


def computed(shown, space, source):
    """What a program returns for the input that the paper prints; "stops" for an error."""
    own = dict(space)
    given = {g.name: torch.tensor(ast.literal_eval(g.text)) for g in shown.given if g.shape}
    numbers = {g.name: ast.literal_eval(g.text) for g in shown.given if not g.shape}
    try:
        exec(source, own)
        if "." not in shown.function:
            arguments = {
                name: value.float()
                if value.dtype == torch.int64 and _is_float(shown, name)
                else value
                for name, value in given.items()
            }
            result = own[shown.function](**arguments, **numbers)
        else:
            name = shown.function.split(".")[0]
            made = {n.split("(")[1].split("=")[0]: v for n, v in numbers.items() if "(" in n}
            module = own[name](**made)
            with torch.no_grad():
                for weight, values in given.items():
                    if weight.startswith("self."):
                        module.get_parameter(weight.removeprefix("self.")).copy_(values)
            result = module(given["x"].float())
        array = result.detach().numpy() if isinstance(result, torch.Tensor) else np.asarray(result)
        return Value("array", array, array.shape)
    except Exception:
        return "stops"


def _is_float(shown, name):
    return shown.arguments[name].array.dtype.kind == "f"


def solved(shown, question, space):
    """Which option is right, from the paper alone."""
    code = tuple(shown.program.quoted(1, len(shown.program.lines)))
    whole = shown.returned[""]
    if question.kind == "change":
        result = computed(shown, space, changed_code(code, question.text))
        said = kinds._STOPS if result == "stops" else kinds._said(result, whole)
        return next((n for n, option in enumerate(question.options) if option.text == said), None)
    fitting = [
        number
        for number, option in enumerate(question.options)
        if (made := computed(shown, space, changed_code(code, option.text))) != "stops"
        and f"is {kinds._said(made, whole)}. With which?" in question.text
    ]
    return fitting[0] if len(fitting) == 1 else None


@pytest.mark.parametrize(("task", "style"), TRIED)
def test_every_question_has_four_options_that_anybody_tells_apart_and_one_key(task, style):
    _, questions, _ = all_questions(task, style)
    assert len(questions) >= 8
    for question in questions:
        if question.kind == "why":
            assert question.model_answer
            continue
        assert len({option.text for option in question.options}) == 4, question
        assert sum(option.right for option in question.options) == 1, question
        assert all(option.reason for option in question.options), question


SOLVED = [
    ("05/scores", "einsum"),
    ("05/head", "with biases, layers in another order"),
    ("01/past-mean", "loop"),
]


@pytest.mark.parametrize(("task", "style"), SOLVED)
def test_whoever_makes_the_change_in_a_bare_python_finds_the_key(task, style):
    tried = 0
    for student in ("ada", "bob", "cleo", "dan"):
        shown, questions, space = all_questions(task, style, student)
        for question in questions:
            if question.kind in ("change", "find") and "entry" not in question.text:
                assert solved(shown, question, space) == question.right, question
                tried += 1
    assert tried >= 10


def test_a_key_that_is_wrong_is_noticed_by_solving_it():
    shown, questions, space = all_questions("05/scores", "einsum")
    question = next(q for q in questions if q.kind == "change")
    assert solved(shown, question, space) != (question.right + 1) % 4


@pytest.mark.parametrize(("task", "style"), TRIED)
def test_a_reading_question_asks_for_what_the_line_leaves(task, style):
    shown, questions, _ = all_questions(task, style)
    reading = [q for q in questions if q.kind == "read" and "hold" in q.text]
    for question in reading:
        name, index, line = re.match(
            r"What does `([A-Za-z_]+)(.*?)` hold right after your line (\d+)", question.text
        ).groups()
        place = tuple(int(n) for n in re.findall(r"\d+", index))
        _, value = shown.own.saw[int(line), name]
        right = question.options[question.right].text
        assert right == f"`{written(value.at(place))}`"


def test_which_change_leaves_the_result_is_proved_on_forty_draws():
    found, _ = asked("05/scores", "einsum")
    assert len(found.draws) == asking.DRAWS
    shown = Shown(found)
    for question in (q for q in all_questions("05/scores", "einsum")[1] if q.kind == "same"):
        by_text = {one.edit.said[1:]: one for one in shown.variants}
        for option in question.options:
            variant = by_text[option.text[1:]]
            agrees = [variant.run.same(shown.own, n) for n in found.draws]
            assert all(agrees) if option.right else not any(agrees)


@pytest.mark.parametrize(("task", "style"), [("05/weights", "numpy"), ("03/windows", "numpy view")])
def test_a_change_that_stops_the_code_stops_it_in_every_draw_and_the_others_in_none(task, style):
    shown, questions, _ = all_questions(task, style)
    by_text = {one.edit.said[1:]: one for one in shown.variants}
    stopping = [question for question in questions if question.kind == "stop"]
    assert stopping
    for question in stopping:
        for option in question.options:
            run = by_text[option.text[1:]].run
            stopped = [bool(run.stopped(n)) for n in (0, *shown.found.draws)]
            assert all(stopped) if option.right else not any(stopped)


def test_what_is_drawn_at_random_is_asked_about_nowhere():
    source = (
        "def f(x, generator):\n"
        "    double = 2 * x\n"
        "    noise = torch.rand(3, generator=generator)\n"
        "    return double + noise\n"
    )
    case = {"f": lambda answer, given: answer(tensor(given["x"]), seeded(int(given["seed"])))}
    sets = [{"x": np.arange(3.0), "seed": np.array(5)}]
    roles = {name: [0] if name == "shown" else [] for name in ("shown", "drawn", "told", "own")}
    roles |= {"whole": [], "counted": []}
    for code, random in ((source, True), (source.replace("double + noise", "double"), False)):
        programs = [{"plain": code, "traced": Program("f", code).traced}]
        space, probe = {"torch": torch}, Probe(lambda _: sets[0], case)
        (ran,) = run_variants(probe, space, "f", "f", programs, sets, roles)
        names = {name for _, name, _, _ in ran["saw"]}
        assert ran["random"] is random
        assert names == ({"double"} if random else {"double", ""})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "'a'"),
        (["a", "b"], "['a', 'b']"),
        ({"b": 1, "a": [2.5]}, "{'b': 1, 'a': [2.5]}"),
        ({"b", "a"}, "{'a', 'b'}"),
        ([torch.tensor([1, 2])], "[tensor([1, 2])]"),
        ("a" * 300, ""),  # a part of it would be another text
        ([object()], ""),
        ({"a": 1 / 3}, ""),
    ],
)
def test_a_text_or_a_collection_is_shown_as_a_whole_or_not(value, text):
    shown = plain(value, 10)
    assert (shown["is"], shown["text"]) == (
        ("text", text) if text else ("other", type(value).__name__)
    )


def test_a_list_of_tensors_is_on_paper_what_they_are_stacked():
    one = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    stacked, listed = (
        read_value(_as_one(value)) for value in (torch.stack([one, 2 * one]), [one, 2 * one])
    )
    assert not stacked.apart(listed)


def test_a_change_that_lets_the_future_leak_is_one_and_the_others_are_not():
    leaks = 0
    for student, style in (("ada", "numpy"), ("bob", "numpy"), ("ada", "exponentials")):
        shown, questions, _ = all_questions("05/weights", style, student)
        by_text = {one.edit.said[1:]: one for one in shown.variants}
        for question in (q for q in questions if q.kind == "leak"):
            leaks += 1
            name, axis = kinds._axis_of_time(shown)
            for option in question.options:
                results = by_text[option.text[1:]].run.results
                pairs = kinds._pairs(shown, "last")
                seen = [kinds._moves(results, pair, name, axis) for pair in pairs]
                moved = [earlier for earlier, _ in seen]
                assert all(moved) if option.right else not any(moved)
                # Zeros follow from no position: they don't say that the change is harmless.
                assert all(end for _, end in seen) or option.right
    assert leaks


def test_a_line_that_grows_with_the_square_of_the_positions_is_counted_so():
    _, questions, _ = all_questions("05/scores", "einsum")
    (last,) = [q for q in questions if q.topic.startswith("scale 4 ")]
    # Products of T queries with T keys.
    assert last.options[last.right].text == "It becomes 4 times as large."
    (first,) = [q for q in questions if q.topic.startswith("scale 2 ")]
    assert first.options[first.right].text == "It doubles."


def test_lines_are_quoted_as_the_student_wrote_them():
    source = '''
def helper(a):
    return a.mT  # turned
def scores(x, w_query, w_key):
    """Docstring
    of two lines."""
    q = x@w_query   # odd   spaces
    return (q @ helper(x @ w_key)
            ) / 2
'''
    program = program_of([source, "%matplotlib inline\nprint('no definition')"], "scores")
    assert program.quoted(4, 4) == ((4, "    q = x@w_query   # odd   spaces"),)
    assert "Docstring" not in program.source
    changes = edits(program)
    assert any(one.after == "q = x" for one in changes)
    assert any(one.where == "line 2" and one.after == "return a" for one in changes)


@pytest.mark.parametrize(
    "sources",
    [
        ["scores = lambda x, w_query, w_key: x"],
        ["def scores(x:"],
        ["def other(x):\n    return x"],
        ["from somewhere import scores"],
        ["def scores(x):\n    return '" + "a" * 500 + "'"],
        [],
    ],
)
def test_where_no_own_code_is_found_nothing_is_asked(sources):
    assert program_of(sources, "scores") is None


def test_a_variant_that_never_ends_is_ended_and_asked_about_nowhere():
    source = (
        "def scores(x, w_query, w_key):\n"
        "    n = 0\n"
        "    while n < 1:\n"
        "        n = n + 1\n"
        "    return (x @ w_query) @ (x @ w_key).mT / w_key.shape[1] ** 0.5\n"
    )
    program = program_of([source], "scores")
    plan = asking.plan("05/scores", program, 3)
    sent = run_variants_on_bytes(catalogue.probe("05/scores"), {}, plan.message())
    found = asking.found(plan, sent)
    assert any(run.error == "takes too long" for run in found.variants)
    assert len(papers.paper(found, "ada", 3).questions) == choosing.QUESTIONS


def test_a_statement_that_grows_without_end_is_ended_too():
    source = "def f(x):\n    y = [n for n in range(2 * x) if n + x][:3]\n    return x\n"
    case = {"f": lambda answer, given: answer(int(given["x"]))}
    roles = {name: [0] if name == "shown" else [] for name in ("shown", "drawn", "told", "own")}
    programs = [
        {"traced": Program("f", code).traced}
        for code in (source, source.replace("2 * x", "x ** 40"))
    ]
    given = ({"x": np.array(9)}, roles | {"whole": [], "counted": []})
    ran = run_variants(Probe(lambda _: {}, case), {}, "f", "f", programs, [given[0]], given[1])
    assert [one.get("error") for one in ran] == [None, "takes too long"]


def test_the_same_code_gets_other_questions_for_another_student_and_the_same_for_the_same():
    made = [
        papers.paper(asked("05/scores", "einsum", student)[0], student, seed)
        for student, seed in (("ada", 1), ("ada", 1), ("bob", 2))
    ]
    assert made[0] == made[1]
    one, other = ({q.text + q.topic for q in paper.questions} for paper in made[1:])
    assert len(one & other) <= 3  # the kinds that speak of no number


def pool(student, numbers):
    """What can be asked about code that everybody has handed in: few questions have numbers."""
    options = tuple(Option(f"{n}", right=n == 0, reason="It was run.") for n in range(4))
    kinds_of = [("read", f"{student} {n}") for n in range(numbers)]
    kinds_of += [(kind, str(n)) for kind in ("shape", "same", "leak", "scale") for n in range(3)]
    asked = [Question(kind, n, (), f"{kind} {n}?", options) for kind, n in kinds_of]
    asked.append(Question("why", "why", (), "Why?", model_answer="Because."))
    return Paper("05/scores", "Scores", student, ((1, "def f(): pass"),), (), tuple(asked))


def overlaps(papers_of_a_class):
    return [choosing.overlap(*two) for two in itertools.combinations(papers_of_a_class, 2)]


def test_no_two_of_sixty_with_the_same_code_have_more_than_a_fifth_of_their_papers_in_common():
    students = [f"s{n}" for n in range(60)]
    made, alone = [], []
    for student in students:
        whole, seed = pool(student, 12), choosing.seed_of(1, student)
        made.append(choosing.chosen(whole, seed, others=made))
        alone.append(choosing.chosen(whole, seed))
    assert max(overlaps(made)) <= choosing.MOST_ALIKE < max(overlaps(alone))
    assert {len(one.questions) for one in made} == {choosing.QUESTIONS}


def test_where_too_few_questions_differ_papers_are_made_all_the_same():
    made = []
    for n in range(20):
        made.append(choosing.chosen(pool(f"s{n}", 2), n, others=made))
    assert min(len(one.questions) for one in made) >= choosing.FEWEST
    assert max(overlaps(made)) < 1


def test_a_paper_survives_its_way_through_json():
    paper = papers.paper(asked("05/scores", "einsum")[0], "ada", 1)
    assert Paper.from_plain(json.loads(json.dumps(paper.to_plain()))) == paper


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"{}",
        b"[]",
        b"[1]",
        b'[{"results": {"0": {"a": {"is": "array", "shape": [2], "numbers": [1]}}}}]',
        b'[{"results": {}, "saw": [[1]], "given": {}, "counts": {}}]',
        b'[{"results": {"x": {}}, "saw": [], "given": {}, "counts": {}}]',
        b"[" * 100_000,
        b'[{"results": {"0": {"a": {"is": "array", "shape": [1], "kind": "i", "numbers": [1e99]}}},'
        b'"saw": [], "given": {}, "counts": {}}]',
    ],
)
def test_results_that_no_run_writes_are_refused(sent):
    found, _ = asked("05/scores", "einsum")
    with pytest.raises(OddValueError):
        asking.found(found.plan, sent)


def test_what_changes_another_case_of_the_task_leaves_nothing_as_it_is():
    """On paper only one case is shown, with a text that has no room for one window more."""
    answer = students_of("03/windows").RIGHT["loop and lists"]
    module = inspect.getmodule(answer)
    program = program_of([inspect.getsource(module)], answer.__name__)
    change = next(
        one for one in edits(program) if one.after == "while start + block_size <= len(tokens):"
    )
    unseen = 0
    for seed in range(6):
        plan = dataclasses.replace(asking.plan("03/windows", program, seed), edits=(change,))
        sent = run_variants_on_bytes(catalogue.probe("03/windows"), vars(module), plan.message())
        shown = Shown(asking.found(plan, sent))
        unseen += any(one.run.same(shown.own, 0) for one in shown.variants)
        assert not any(one.same for one in shown.variants)
    assert unseen  # on paper, nothing tells it from the answer


def test_an_error_of_what_looks_at_a_result_is_none_of_the_code():
    source = (
        "def scores(x, w_query, w_key):\n"
        "    z = (x @ w_query) @ (x @ w_key).mT\n"
        "    y = {1}\n"
        "    return z\n"
    )
    program = program_of([source], "scores")
    plan = asking.plan("05/scores", program, 5)
    change = next(one for one in edits(program) if one.after == "return y")
    plan = dataclasses.replace(plan, edits=(change,))
    sent = run_variants_on_bytes(catalogue.probe("05/scores"), {}, plan.message())
    found = asking.found(plan, sent)
    assert found.variants[0].odd
    assert not Shown(found).variants


def test_no_question_holds_a_piece_of_the_right_answer_that_the_student_did_not_write():
    own = "def f(x, w_key):\n    return x / math.sqrt(w_key.shape[1])\n"
    piece = "products = query @ key.mT"
    assert shows_answer("05/scores", own, piece)
    assert not shows_answer("05/scores", f"{own}\n{piece}", piece)
    assert not shows_answer("05/scores", own, "a.mT")


def test_a_change_after_which_unwritten_memory_is_read_is_asked_about_nowhere():
    source = (
        "def scores(x, w_query, w_key):\n"
        "    query, key = x @ w_query, x @ w_key\n"
        "    made = torch.empty(*x.shape[:-1], x.shape[-2])\n"
        "    made[...] = query @ key.mT / w_key.shape[1] ** 0.5\n"
        "    return made\n"
    )
    program = program_of([source], "scores")
    plan = asking.plan("05/scores", program, 5)
    change = next(one for one in edits(program) if one.first == 4 and not one.after)
    plan = dataclasses.replace(plan, edits=(change,))
    space = {"torch": torch}
    sent = run_variants_on_bytes(catalogue.probe("05/scores"), space, plan.message())
    found = asking.found(plan, sent)
    assert found.own.error == ""
    assert found.variants[0].odd


def test_memory_that_the_code_has_not_written_yet_is_no_value_of_a_line():
    source = (
        "def scores(x, w_query, w_key):\n"
        "    made = torch.empty(*x.shape[:-1], x.shape[-2], dtype=torch.int64)\n"
        "    made = made.float()\n"
        "    made[...] = (x @ w_query) @ (x @ w_key).mT / w_key.shape[1] ** 0.5\n"
        "    return made\n"
    )
    program = program_of([source], "scores")
    plan = dataclasses.replace(asking.plan("05/scores", program, 5), edits=())
    probe = catalogue.probe("05/scores")
    found = asking.found(plan, run_variants_on_bytes(probe, {"torch": torch}, plan.message()))
    assert (2, "made") not in found.own.saw
    assert (3, "made") not in found.own.saw
    assert (4, "made") in found.own.saw
