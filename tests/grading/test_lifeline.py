"""What the grader understands of a supervisor's end, whenever that comes."""

import json
import socket

import pytest

from course_grader.errors import MachineError
from course_grader.sandbox.lifeline import last_words, tell

WITHOUT_A_WORD = "its supervisor ended, or was ended, without a word"


@pytest.fixture
def ends():
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with mine, its:
        yield mine, its


def say(its, **words):
    its.send(json.dumps(words).encode())


class EndsMeanwhile(socket.socket):
    """A lifeline whose supervisor ends when it has been told something, and has not read it."""

    its: socket.socket

    def settimeout(self, seconds):
        say(self.its, ended="the process was ended by SIGTERM")
        self.its.close()
        super().settimeout(seconds)


def test_supervisor_that_ends_before_it_has_read_everything_is_still_understood(ends):
    mine, its = ends
    with EndsMeanwhile(fileno=mine.detach()) as lifeline:
        lifeline.its = its
        end = last_words(lifeline, 1)
    assert (end.ended, end.repeat) == ("the process was ended by SIGTERM", "")


def test_supervisor_that_has_ended_is_understood(ends):
    mine, its = ends
    say(its, ended="", repeat="others held the processor")
    its.close()
    assert last_words(mine, 1).repeat == "others held the processor"


@pytest.mark.parametrize("told", [b"", b"\0\1"])
def test_supervisor_that_says_nothing_asks_for_another_run(ends, told):
    mine, its = ends
    if told:
        tell(mine, told)
    its.close()
    assert last_words(mine, 1).repeat == WITHOUT_A_WORD


@pytest.mark.parametrize("words", [b"{", b"[1]", b"\xff"])
def test_words_that_nobody_understands_ask_for_another_run(ends, words):
    mine, its = ends
    its.send(words)
    assert last_words(mine, 1).repeat == WITHOUT_A_WORD


def test_supervisor_that_is_silent_is_waited_for_only_so_long(ends):
    mine, _ = ends
    assert last_words(mine, 0.01).repeat == WITHOUT_A_WORD


def test_sandbox_that_failed_is_the_machines_fault(ends):
    mine, its = ends
    say(its, failed="isolation failed: no namespaces")
    with pytest.raises(MachineError, match="no namespaces"):
        last_words(mine, 1)
