"""What a run sends to the grader is read with a bound on everything, and said in words if odd."""

import tracemalloc

import pytest
from sandboxed_runs import SOON, header, ran_of, read, stream, work

from course_grader.assignment import Check
from course_grader.sandbox.protocol import (
    MOST_OUTPUTS_OF_A_RUN,
    RawStep,
    RunResult,
    most_header_bytes,
    read_steps,
)
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.runner.limits import MEGABYTE
from course_tasks.runner.outputs import MOST_OUTPUTS_OF_A_CELL, PICTURE


class TestReading:
    def test_what_a_runner_sends_is_read_with_the_seconds_that_the_grader_measured(self):
        picture = {PICTURE: "AAAA", "text/plain": "<Figure>"}
        outputs = [
            stream("hello\n"),
            {"output_type": "display_data", "data": picture, "metadata": {}},
            {
                "output_type": "execute_result",
                "data": {"text/plain": "42"},
                "metadata": {},
                "execution_count": 3,
            },
            {"output_type": "error", "ename": "E", "evalue": "why", "traceback": ["a", "b"]},
        ]
        check = Step("check", "", "c", Check(0, "c", "", 2.0, "01/mean", "mean"))
        ran = RunResult(
            (RawStep(header(0, outputs, "E"), b"", 0.5), RawStep(header(1), b"data", 0.25)), "", 1
        )
        steps, odd = read_steps(
            ran, SanitizedSubmission((Step("code", "x"), Step("text", "y"), check)), SOON
        )
        assert odd == ""
        assert (steps[0].outputs, steps[0].problem, steps[0].seconds) == (outputs, "E", 0.5)
        assert (steps[1].answers, steps[1].seconds) == (b"data", 0.25)

    @pytest.mark.parametrize(
        "sent",
        [
            b"",
            b"\xff\xfe",
            b"null",
            b"[]",
            b"{",
            b"[" * 10**5,
            b'{"a":' * 10**5,
            b'{"step":0,"outputs":[' + b"{}," * 10**6 + b'{}],"problem":""}',
            b'{"step":0,"outputs":[' + b"[]," * 10**6 + b'[]],"problem":""}',
            b'{"step":0,"outputs":[' + b"0," * 10**6 + b'0],"problem":""}',
            b'{"step":' + b"9" * 400 + b',"outputs":[],"problem":""}',
            b'{"step":' + b"9" * 100_000 + b',"outputs":[],"problem":""}',
            b'{"step":1e400,"outputs":[],"problem":""}',
            b'{"step":0.0,"outputs":[],"problem":""}',
            b'{"step":NaN,"outputs":[],"problem":""}',
            b'{"step":-Infinity,"outputs":[],"problem":""}',
            b'{"step":false,"outputs":[],"problem":""}',
            b'{"step":0,"step":0,"outputs":[],"problem":""}',
            b'{"step":0,"outputs":[],"problem":"","seconds":1}',
            b'{"step":0,"outputs":[],"problem":null}',
            b'{"step":0,"outputs":{},"problem":""}',
            header(1),
            header(problem="x" * 1001),
            header(outputs=[stream("x")] * (MOST_OUTPUTS_OF_A_CELL + 2)),
            header(outputs=[stream("x" * (SOON.output_kilobytes * 1024 + 10**6))]),
            header(outputs=[stream(["x"])]),
            header(outputs=[{**stream("x"), "name": "log"}]),
            header(outputs=[{**stream("x"), "more": 1}]),
            header(outputs=[{"output_type": "update"}]),
            header(outputs=[{"output_type": ["stream"]}]),
            header(
                outputs=[{"output_type": "error", "ename": "E", "evalue": "", "traceback": "x"}]
            ),
            header(outputs=[{"output_type": "error", "ename": 1, "evalue": "", "traceback": []}]),
            header(
                outputs=[
                    {"output_type": "display_data", "data": {"text/javascript": ""}, "metadata": {}}
                ]
            ),
            header(
                outputs=[{"output_type": "display_data", "data": {"text/plain": 1}, "metadata": {}}]
            ),
            header(outputs=[{"output_type": "display_data", "data": {}, "metadata": {"a": 1}}]),
            header(
                outputs=[
                    {
                        "output_type": "display_data",
                        "data": {PICTURE: "A" * (SOON.picture_kilobytes * 1024 * 4 // 3 + 8)},
                        "metadata": {},
                    }
                ]
            ),
            header(
                outputs=[
                    {
                        "output_type": "execute_result",
                        "data": {},
                        "metadata": {},
                        "execution_count": "1",
                    }
                ]
            ),
            b" " * (most_header_bytes(SOON) + 1),
        ],
    )
    def test_anything_else_is_said_in_words_after_what_came_before(self, sent):
        good = header(0, [stream("first")])
        assert read_steps(ran_of(sent), work("1"), SOON)[0] == ()
        renumbered = sent.replace(b'"step":0', b'"step":1').replace(b'"step": 0', b'"step": 1')
        steps, odd = read_steps(ran_of(good, renumbered), work("1", "2"), SOON)
        if sent == header(1):
            assert (len(steps), odd) == (2, "")
        else:
            assert [one.outputs for one in steps] == [[stream("first")]]
            assert odd.startswith("result 2 of the run")

    def test_halves_of_characters_and_zeros_become_what_files_can_hold(self):
        (step,) = read(ran_of(header(outputs=[stream("a\ud800b\0c")], problem="\udfff\0")))
        step.outputs[0]["text"].encode()
        assert step.outputs == [stream("a?b\ufffdc")]
        assert step.problem == "?\ufffd"

    def test_cell_has_no_answers_and_no_more_results_come_than_steps(self):
        steps, odd = read_steps(ran_of(header(), payload=b"x"), work("1"), SOON)
        assert (steps, odd) == ((), "result 1 of the run is none: a cell has answers")
        steps, odd = read_steps(ran_of(header(), header(1)), work("1"), SOON)
        assert "more results than steps" in odd

    def test_outputs_of_all_cells_together_are_bounded(self):
        many = MOST_OUTPUTS_OF_A_RUN // MOST_OUTPUTS_OF_A_CELL
        each = [stream("")] * MOST_OUTPUTS_OF_A_CELL
        ran = ran_of(*[header(number, each) for number in range(many + 1)])
        steps, odd = read_steps(ran, work(*["1"] * (many + 1)), SOON)
        assert len(steps) == many
        assert f"more than {MOST_OUTPUTS_OF_A_RUN} outputs" in odd

    def test_header_of_many_empty_parts_takes_little_memory(self):
        sent = b'{"step":0,"problem":"","outputs":[' + b"{}," * (most_header_bytes(SOON) // 3 - 30)
        tracemalloc.start()
        try:
            read_steps(ran_of(sent + b"{}]}"), work("1"), SOON)
            assert tracemalloc.get_traced_memory()[1] < 20 * MEGABYTE
        finally:
            tracemalloc.stop()
