"""The mechanism under the tasks, on a small task of its own."""

import contextlib
import dataclasses
import functools
import inspect
import itertools
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping

import numpy as np
import pytest
import safetensors.numpy
import torch

from course_judges import at_desk
from course_judges import catalogue as judges
from course_judges.judging import Mistake, Part, RightAnswerError, Task, judge, matches
from course_lib.errors import CourseError
from course_tasks import Finding, Section, State, catalogue, check
from course_tasks.answers import (
    MOST_BYTES,
    MOST_VALUES,
    Answers,
    Raised,
    arrays_from_bytes,
    arrays_to_bytes,
    input_text,
    text_input,
)
from course_tasks.errors import InvalidAnswerError, UnknownTaskError
from course_tasks.flattening import flatten
from course_tasks.probing import Probe, both, load_weights, run, run_on_bytes
from course_tasks.watching import Watch

HERE = Section("01-averages", "Somewhere")


def double(x):
    return 2 * x


def doubling_inputs(rng):
    return {"x": rng.normal(size=(3, int(rng.integers(2, 5)))), "negative": -rng.random(4) - 1}


PROBE = Probe(
    doubling_inputs,
    {
        "positive": lambda answer, given: answer(torch.tensor(given["x"])),
        "negative": lambda answer, given: answer(torch.tensor(given["negative"])),
    },
)
TASK = Task(
    "Doubling",
    double,
    HERE,
    (
        Part("any number is doubled", 2, matches("positive")),
        Part("a negative one, too", 1, matches("negative")),
    ),
    (Mistake("square", lambda x: x * x, "You squared.", "4 becomes 16, not 8.", HERE),),
)


def verdict_on(answer, seed=0):
    inputs = PROBE.inputs(np.random.default_rng(seed))
    return judge("00/double", TASK, PROBE, inputs, run(PROBE, answer, inputs).answers)


@pytest.fixture
def doubling(monkeypatch):
    """The small task, to be had by `check`."""
    monkeypatch.setattr(catalogue, "probe", lambda name: PROBE)
    for name in ("task", "as_written"):
        monkeypatch.setattr(judges, name, lambda name: TASK)


class TestVerdict:
    def test_points_are_all_that_a_machine_reads(self):
        bundle = verdict_on(double)._repr_mimebundle_()
        assert float(bundle["text/plain"]) == 3.0
        assert "3 of 3 points" in bundle["text/html"]

    def test_terminal_shows_the_feedback_where_it_cannot_show_html(self, monkeypatch):
        class TerminalInteractiveShell:
            """The name is all that tells IPython's terminal from a notebook."""

        monkeypatch.setattr("IPython.get_ipython", TerminalInteractiveShell)
        assert "You squared." in verdict_on(lambda x: x * x)._repr_mimebundle_()["text/plain"]

    def test_text_says_what_was_done_what_it_does_and_where_to_look(self):
        text = str(verdict_on(lambda x: x * x))
        assert "0 of 3 points" in text
        assert "You squared." in text
        assert "4 becomes 16" in text
        assert "chapter 01, “Somewhere”" in text

    def test_part_of_the_task_is_part_of_the_points(self):
        verdict = verdict_on(lambda x: 2 * x.abs() if (x < 0).all() else 2 * x)
        assert verdict.state is State.PARTLY
        assert verdict.points == 2
        assert "a negative one, too" in str(verdict)

    def test_students_text_cannot_become_markup(self):
        def answer(x):
            raise ValueError("<script>alert(1)</script>")

        page = verdict_on(answer).to_html()
        assert "<script" not in page
        assert "&lt;script&gt;" in page

    def test_section_links_to_the_notebook_and_to_the_published_page(self):
        section = Section("01-averages", "From sums to means")
        assert section.link() == "../../book/01-averages.ipynb#From-sums-to-means"
        assert (
            section.link("https://example.org/")
            == "https://example.org/book/01-averages.html#from-sums-to-means"
        )


class TestFindings:
    def test_error_names_its_kind_and_the_line_of_the_student(self):
        def answer(x):
            return x[99]

        finding = verdict_on(answer).findings[0]
        assert finding.name == "error"
        assert "IndexError" in finding.what
        assert "return x[99]" in finding.what

    def test_error_going_backward_is_not_said_of_the_way_forward(self):
        def answer(x):
            leaf = x.clone().requires_grad_()
            grown = leaf.exp()
            grown += 1
            grown.sum().backward()
            return leaf.grad

        finding = verdict_on(answer).findings[0]
        assert finding.name == "error"
        assert "the backward pass stopped with RuntimeError" in finding.what
        assert "grown.sum().backward()" in finding.what
        assert "Hint" not in finding.effect

    def test_wrong_shape_is_said_with_both_shapes(self):
        finding = verdict_on(lambda x: x.sum()).findings[0]
        assert finding.name == "shape"
        assert "one number" in finding.what
        assert "(3, " in finding.what

    def test_not_a_number_is_said_with_its_place(self):
        assert verdict_on(lambda x: x * torch.nan).findings[0].name == "not-finite"

    def test_unexplained_difference_shows_yours_and_the_right_one(self):
        finding = verdict_on(lambda x: 2 * x + 3 * x**2).findings[0]
        assert finding.name == "difference"
        assert "you have" in finding.effect
        assert "instead of" in finding.effect

    @pytest.mark.parametrize("result", [None, ..., object(), {1, 2}, [torch.ones(2), object()]])
    def test_a_result_that_is_no_data_is_described(self, result):
        finding = verdict_on(lambda x: result).findings[0]
        assert finding.name == "type"
        assert "returned" in finding.what
        assert "stopped" not in finding.what
        assert ("Is a `return` missing?" if result is None else "should return a") in finding.effect

    def test_exit_in_an_answer_is_an_answer(self):
        finding = verdict_on(lambda x: sys.exit(0)).findings[0]
        assert "SystemExit" in finding.what

    def test_broken_exception_is_survived(self):
        class Bad(Exception):
            def __str__(self):
                raise RuntimeError

        def answer(x):
            raise Bad

        assert "Bad" in verdict_on(answer).findings[0].what

    def test_answer_that_writes_into_what_it_is_given_is_told_so_and_loses_one_part(self):
        verdict = verdict_on(lambda numbers: numbers.mul_(2))
        assert verdict.points == 2
        assert verdict.findings[0].name == "changes-its-input"
        assert "`numbers`" in verdict.findings[0].what

    def test_what_a_right_answer_changes_may_be_changed(self):
        inputs = PROBE.inputs(np.random.default_rng(0))
        task = dataclasses.replace(TASK, answer=lambda x: x.mul_(2))
        answers = run(PROBE, lambda x: x.mul_(2), inputs).answers
        assert judge("00/double", task, PROBE, inputs, answers).state is State.RIGHT

    def test_half_precision_is_read(self):
        assert flatten("a", torch.ones(2, dtype=torch.bfloat16))["a"].dtype == np.float32


class TestEndless:
    def test_mapping_without_end_is_refused(self):
        class Endless(Mapping):
            def __getitem__(self, key):
                return 0

            def __len__(self):
                return 1

            def __iter__(self):
                return itertools.count()

        with pytest.raises(TypeError, match=f"more than {MOST_VALUES} values"):
            flatten("a", Endless())


class TestTwoDraws:
    """A check asks on two draws, and then the first again."""

    def verdict_on(self, answer, seed=0):
        rng = np.random.default_rng(seed)
        inputs = both(PROBE.inputs(rng), PROBE.inputs(rng))
        return judge("00/double", TASK, PROBE, inputs, run(PROBE, answer, inputs).answers)

    def test_luck_in_one_draw_is_not_enough(self):
        first = PROBE.inputs(np.random.default_rng(0))["x"].shape[1]
        seed = next(
            s for s in range(20) if PROBE.inputs(np.random.default_rng(s))["x"].shape[1] != first
        )
        for lucky in (0, seed):
            size = PROBE.inputs(np.random.default_rng(lucky))["x"].shape[1]
            inputs = both(*(PROBE.inputs(np.random.default_rng(s)) for s in sorted((0, seed))))

            def answer(x, size=size):
                return 2 * x if x.ndim == 1 or x.shape[1] == size else 3 * x

            verdict = judge("00/double", TASK, PROBE, inputs, run(PROBE, answer, inputs).answers)
            assert verdict.points == 1
            assert "the same factor" in verdict.findings[0].what

    def test_second_draw_may_lie_at_an_edge_of_what_a_task_allows(self, monkeypatch):
        def at_edge(rng):
            return {**PROBE.inputs(rng), "x": rng.normal(size=(1, 5))}

        def answer(x):
            return 2 * x if x.ndim == 1 or len(x) > 1 else torch.exp(x) - x**3

        probe = dataclasses.replace(PROBE, second=at_edge)
        monkeypatch.setattr(catalogue, "probe", lambda _: probe)
        monkeypatch.setattr(judges, "as_written", lambda _: TASK)
        for seed in range(5):
            inputs = judges.inputs("00/double", np.random.default_rng(seed))
            assert (inputs["x"].shape[0], inputs["second/x"].shape[0]) == (3, 1)
            answers = run(probe, answer, inputs).answers
            finding = judge("00/double", TASK, probe, inputs, answers).findings[0]
            assert finding.name == "dimension-of-one"
            assert "wrong with x of shape (1, 5)" in finding.effect

    def test_what_is_kept_from_call_to_call_is_found(self):
        kept = {}

        def answer(x):
            return kept.setdefault(x.ndim, 2 * x)

        assert self.verdict_on(answer).points == 0
        calls = []

        def counting(x):
            calls.append(x)
            return 2 * x if len(calls) <= 4 else 3 * x

        verdict = self.verdict_on(counting)
        assert verdict.points == 0
        assert verdict.findings[0].name == "keeps-state"

    def test_unrepeatable_answer_is_called_so(self):
        verdict = self.verdict_on(lambda x: x + torch.rand(()))
        assert verdict.findings[0].name == "not-repeatable"

    def test_mistake_is_named_only_if_it_fits_in_every_draw(self):
        calls = []

        def answer(x):
            calls.append(x)
            return x * x if len(calls) <= 2 else x**3

        assert self.verdict_on(lambda x: x * x).findings[0].name == "square"
        assert self.verdict_on(answer).findings[0].name != "square"

    def test_unfilled_scaffold_is_asked_once(self):
        calls = []

        def answer(x):
            calls.append(x)
            raise NotImplementedError

        assert self.verdict_on(answer).state is State.NOT_ATTEMPTED
        assert len(calls) == len(PROBE.cases)

    def test_scaffolds_line_left_above_an_answer_is_said_to_stop_it(self):
        def answer(x):
            raise NotImplementedError  # replace this line with your answer
            return x * x  # the answer

        verdict = self.verdict_on(answer)
        assert verdict.state is State.WRONG
        assert verdict.findings[0].name == "scaffold-line-left"
        assert "still in `answer`" in verdict.findings[0].what

    def test_scaffolds_line_below_what_was_begun_is_not(self):
        def answer(x):
            """Words of the scaffold."""
            x = x * x
            raise NotImplementedError

        assert self.verdict_on(answer).state is State.NOT_ATTEMPTED


class TestCheck:
    def test_fresh_inputs_each_time_and_the_same_for_a_seed(self, doubling):
        seen = []

        def answer(x):
            seen.append(x.sum().item())
            return 2 * x

        check("00/double", answer)
        check("00/double", answer)
        check("00/double", answer, seed=1)
        check("00/double", answer, seed=1)
        assert seen[0] != seen[len(seen) // 4]
        a_check = len(seen) // 4
        assert seen[2 * a_check : 3 * a_check] == seen[3 * a_check :]

    def test_unknown_task_names_the_nearest(self):
        with pytest.raises(UnknownTaskError, match="did you mean"):
            check(catalogue.names()[0] + "x", double)

    def test_global_randomness_is_left_as_it_was(self, doubling):
        torch.manual_seed(3)
        expected = torch.rand(1)
        torch.manual_seed(3)
        check("00/double", lambda x: torch.manual_seed(0) and torch.rand(5) and 2 * x)
        assert torch.rand(1) == expected

    def test_endless_answer_says_how_to_stop_it_and_can_be_stopped(
        self, doubling, monkeypatch, capsys
    ):
        monkeypatch.setattr(at_desk, "PATIENCE_SECONDS", 0.01)
        said = []

        def endless(x):
            for _ in range(6000):
                said.append(capsys.readouterr().out)
                if "Kernel → Interrupt" in "".join(said):
                    signal.raise_signal(signal.SIGINT)
                time.sleep(0.01)
            return 2 * x  # nothing was said for a minute, and nobody has stopped it

        # A shell's background job ignores Ctrl-C, and the tests may be one.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            verdict = check("00/double", endless)
        finally:
            signal.signal(signal.SIGINT, before)
        assert verdict.state is State.INTERRUPTED
        assert verdict.points == 0

    def test_quick_answer_says_nothing_of_stopping(self, doubling, capsys):
        before = set(threading.enumerate())
        check("00/double", double)
        for reminder in set(threading.enumerate()) - before:
            reminder.join()  # at once if it was called off; otherwise it speaks before its end
        assert capsys.readouterr().out == ""

    def test_stderr_is_a_note_and_not_a_stream(self, doubling, capsys):
        verdict = check("00/double", lambda x: print("hm", file=sys.stderr) or 2 * x)
        assert verdict.state is State.RIGHT
        assert "hm" in verdict.notes[0]
        assert capsys.readouterr().err == ""


class TestProbeOnly:
    """In a graded run the answer leaves as bytes and nothing is judged beside the student."""

    def test_answers_as_bytes_judge_to_the_same(self):
        inputs = PROBE.inputs(np.random.default_rng(5))
        answers = run_on_bytes(PROBE, lambda x: x * x, arrays_to_bytes(inputs))
        verdict = judge("00/double", TASK, PROBE, inputs, Answers.from_bytes(answers))
        assert verdict.findings[0].name == "square"

    @pytest.mark.slow
    def test_where_judges_are_not_installed_questions_are_asked_and_a_check_says_so(self):
        task = catalogue.names()[0]
        code = (
            "import sys\n"
            "class Absent:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            "        if name.partition('.')[0] == 'course_judges':\n"
            "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
            "sys.meta_path.insert(0, Absent())\n"
            "import numpy as np\n"
            "from course_tasks import catalogue, check\n"
            "from course_tasks.errors import JudgesMissingError\n"
            "from course_tasks.probing import run\n"
            f"probe = catalogue.probe({task!r})\n"
            "inputs = probe.inputs(np.random.default_rng(0))\n"
            "print(run(probe, lambda *a, **k: 1, inputs).answers is not None)\n"
            "try:\n"
            f"    check({task!r}, print)\n"
            "except JudgesMissingError as error:\n"
            "    print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.stdout.startswith("True\n"), done.stderr
        assert "course_judges is not installed" in done.stdout


class TestKeptBack:
    """What only the judge may see: here the numbers that an answer has to guess."""

    PROBE = Probe(
        lambda rng: {"shown": rng.random(3), "secret": rng.random(3)},
        {"seen": lambda answer, given: answer(sorted(given))},
        kept_back=frozenset({"secret"}),
    )
    TASK = Task(
        "Guess",
        lambda names: len(names),
        HERE,
        (
            Part(
                "the secret is known",
                1,
                lambda e: bool((e.yours("seen") == e.inputs["secret"]).all()),
            ),
        ),
    )

    def draw(self):
        return self.PROBE.inputs(np.random.default_rng(0))

    def test_no_answer_and_no_reference_is_given_it(self):
        seen = []
        inputs = self.draw()
        outcome = run(self.PROBE, lambda names: seen.append(names) or 1.0, inputs)
        assert seen == [["shown"]]
        judge("00/guess", self.TASK, self.PROBE, inputs, outcome.answers)

    def test_judge_compares_with_it(self):
        inputs = self.draw()
        right = Answers({"seen": inputs["secret"]})
        wrong = Answers({"seen": inputs["shown"]})
        verdicts = [judge("00/guess", self.TASK, self.PROBE, inputs, a) for a in (right, wrong)]
        assert [verdict.points for verdict in verdicts] == [1.0, 0.0]

    def test_a_file_of_inputs_that_holds_it_is_refused(self):
        inputs = self.draw()
        assert run_on_bytes(self.PROBE, len, arrays_to_bytes(self.PROBE.shown(inputs)))
        with pytest.raises(CourseError, match="secret, which only the judge may see"):
            run_on_bytes(self.PROBE, len, arrays_to_bytes(inputs))


class TestBytes:
    def test_values_texts_and_errors_come_back(self):
        answers = Answers(
            {
                "a": np.arange(6.0).reshape(2, 3),
                "t": "ünder",
                "n": np.int64(3).reshape(()),
                "b": np.array([True]),
            },
            {"e": Raised("ValueError", "no", "x = 1")},
        )
        back = Answers.from_bytes(answers.to_bytes())
        assert back.errors == answers.errors
        assert back.values["t"] == "ünder"
        for name in ("a", "n", "b"):
            np.testing.assert_array_equal(back.values[name], answers.values[name], strict=True)

    def test_text_inputs_come_back(self):
        assert input_text(text_input("tö be")) == "tö be"

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"", "not a safetensors file"),
            (b"\x80\x04K\x01.", "not a safetensors file"),
            (b"\xff" * 64, "not a safetensors file"),
            (b"0" * (MOST_BYTES + 1), "at most"),
            (safetensors.numpy.save({"a": np.zeros(2, np.float16)}), "type F16"),
            (safetensors.numpy.save({"a": np.zeros((1,) * 9)}), "dimensions"),
            (safetensors.numpy.save({f"a{i}": np.zeros(1) for i in range(600)}), "600 values"),
            (safetensors.numpy.save({"error:a": np.frombuffer(b"[]", np.uint8)}), "cannot be read"),
            (safetensors.numpy.save({"error:a": np.frombuffer(b"{}", np.uint8)}), "cannot be read"),
            (safetensors.numpy.save({"text:a": np.zeros(2)}), "a text must be bytes"),
        ],
    )
    def test_anything_else_is_refused_with_the_reason(self, data, reason):
        with pytest.raises(InvalidAnswerError, match=reason):
            Answers.from_bytes(data)

    def test_header_that_lies_about_sizes_is_refused(self):
        header = json.dumps(
            {"a": {"dtype": "F64", "shape": [1000], "data_offsets": [0, 8]}}
        ).encode()
        with pytest.raises(InvalidAnswerError):
            arrays_from_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 8)

    def test_truth_values_are_only_true_or_false(self):
        header = json.dumps({"a": {"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]}}).encode()
        with pytest.raises(InvalidAnswerError, match="0 and 1"):
            arrays_from_bytes(len(header).to_bytes(8, "little") + header + b"\x07")

    def test_too_large_an_answer_is_refused_where_it_is_made(self):
        with pytest.raises(InvalidAnswerError, match="at most"):
            Answers({"a": np.zeros(MOST_BYTES // 8)}).to_bytes()


class TestWeights:
    def test_missing_parameter_is_named_with_those_there_are(self):
        with pytest.raises(AttributeError, match=r"no parameter named 'table'.*weight \(2, 3\)"):
            load_weights(torch.nn.Linear(3, 2), {"table": np.zeros((2, 2))})

    def test_wrong_shape_is_named(self):
        with pytest.raises(AttributeError, match=r"shape \(2, 3\) instead of \(3, 3\)"):
            load_weights(torch.nn.Linear(3, 2), {"weight": np.zeros((3, 3))})

    def test_weights_arrive(self):
        layer = torch.nn.Linear(3, 2)
        load_weights(layer, {"weight": np.full((2, 3), 0.5, np.float32)})
        assert (layer.weight == 0.5).all()


def test_a_recognized_mistake_must_differ_from_the_right_answer():
    same = Task("Doubling", double, HERE, TASK.parts, (Mistake("none", double, "?", "?", HERE),))
    inputs = PROBE.inputs(np.random.default_rng(0))
    verdict = judge(
        "00/double", same, PROBE, inputs, run(PROBE, lambda x: 2 * x + 3 * x**2, inputs).answers
    )
    assert verdict.findings[0].name == "difference"


def test_right_answer_that_stops_is_said_and_earns_nobody_points():
    def stops(x):
        raise ValueError("no such axis")

    task = Task("Doubling", stops, HERE, TASK.parts, ())
    inputs = PROBE.inputs(np.random.default_rng(0))
    alike = run(PROBE, stops, inputs).answers
    with pytest.raises(RightAnswerError, match=r"'Doubling' stops in .* ValueError: no such axis"):
        judge("00/double", task, PROBE, inputs, alike)


def test_a_mistake_of_some_cases_is_not_said_where_the_others_speak_against_it():
    square = Mistake(
        "square", lambda x: x * x, "You squared.", "4 becomes 16.", HERE, cases=("positive",)
    )
    task = Task("Doubling", double, HERE, TASK.parts, (square,))
    inputs = PROBE.inputs(np.random.default_rng(0))

    def told(all_negative):
        def answer(x):
            return all_negative(x) if (x < 0).all() else x * x

        answers = run(PROBE, answer, inputs).answers
        return judge("00/double", task, PROBE, inputs, answers).findings[0].name

    assert told(lambda x: x * x) == "square"
    assert told(lambda x: 2 * x) == "square"  # right there, so nothing speaks against it
    assert told(lambda x: x * torch.nan) == "square"
    assert told(lambda x: x**3 - 100) != "square"


def test_a_mistake_is_asked_no_further_than_it_differs_from_the_answer():
    asked = []

    def square(x):
        asked.append(len(x))
        return x * x

    mistake = Mistake("square", square, "You squared.", "4 becomes 16, not 8.", HERE)
    task = Task("Doubling", double, HERE, TASK.parts, (mistake,))
    inputs = doubling_inputs(np.random.default_rng(0))
    for answer, is_it, cases in ((lambda x: x + 1, False, 1), (lambda x: x**2, True, 2)):
        asked.clear()
        answers = run(PROBE, answer, inputs).answers
        finding = judge("00/double", task, PROBE, inputs, answers).findings[0]
        assert (finding.name == "square") == is_it
        assert len(asked) == cases


def test_message_that_finds_no_number_to_quote_does_not_reach_the_student_as_an_error():
    empty = Mistake(
        "empty", lambda x: x[:0], "It is empty.", lambda e: str(e.yours("positive")[0]), HERE
    )
    task = Task("Doubling", double, HERE, TASK.parts, (empty,))
    inputs = PROBE.inputs(np.random.default_rng(0))
    verdict = judge("00/double", task, PROBE, inputs, run(PROBE, lambda x: x[:0], inputs).answers)
    assert verdict.findings[0].name == "empty"
    assert verdict.findings[0].effect == ""


def _wrapped(function):
    @functools.wraps(function)
    def called(*given, **named):
        return function(*given, **named)

    return called


def _of_both(x, y):
    """Two arguments, where a default is no matter."""


@pytest.mark.parametrize(
    "function",
    [
        _of_both,
        lambda x: None,
        lambda: None,
        lambda x, y=1: None,
        lambda x, *, y=1: None,
        lambda *x: None,
        lambda x, **y: None,
        lambda x, /, y: None,
        _wrapped(_of_both),
        functools.partial(_of_both, 1),
        print,
    ],
)
@pytest.mark.parametrize("given", [(), (1,), (1, 2), (1, 2, 3)])
@pytest.mark.parametrize("named", [{}, {"y": 2}])
def test_arguments_have_the_names_of_the_signature(function, given, named):
    try:
        expected = dict(inspect.signature(function).bind(*given, **named).arguments)
    except TypeError:  # no call of this function
        expected = {f"argument {n}": value for n, value in enumerate(given, 1)} | named
    watch = Watch()
    with contextlib.suppress(TypeError):
        watch.on(function)(*given, **named)
    assert watch.arguments == {
        name: list(value) if isinstance(value, tuple) else value for name, value in expected.items()
    }


def test_what_is_written_is_what_safetensors_reads():
    values = {
        "T": np.array(5),
        "x": np.ones((2, 3), dtype=np.float32)[:, ::2],
        "none": np.zeros((0, 4)),
        "kept": np.array([True, False]),
        "µ": np.arange(3),
    }
    back = safetensors.numpy.load(arrays_to_bytes(values))
    assert back.keys() == values.keys()
    for name, value in values.items():
        np.testing.assert_array_equal(back[name], value, strict=True)


def test_type_that_is_not_read_is_not_written():
    with pytest.raises(InvalidAnswerError, match="float16"):
        arrays_to_bytes({"x": np.ones(2, dtype=np.float16)})


def test_whole_number_inputs_arrive_as_whole_numbers():
    inputs = {"T": np.array(5), "x": np.ones((2, 3))[:, ::2]}
    back = arrays_from_bytes(arrays_to_bytes(inputs))
    assert int(back["T"]) == 5
    np.testing.assert_array_equal(back["x"], inputs["x"], strict=True)


def test_finding_without_a_section_is_still_a_sentence():
    assert Finding("a", "b").section is None


class TestMissingPackages:
    def test_chapters_that_lack_packages_are_named_before_any_task_is_asked(self, monkeypatch):
        import importlib.util

        real = importlib.util.find_spec
        gone = ("jax", "optax")
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name in gone else real(name)
        )
        assert catalogue.lacking() == {"10": gone}
        assert catalogue.missing("10/head") == gone
        assert catalogue.missing("01/window") == ()

    def test_nothing_is_missing_where_everything_is_installed(self, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
        assert catalogue.lacking() == {}
