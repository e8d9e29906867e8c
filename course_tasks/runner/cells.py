"""Inside the sandbox: run a notebook's cells as a kernel would, and ask the tasks' questions.

No one trusts what happens here, because student code runs in the same process and may change all of
it. What leaves is escaped and shown to people, or compared with results that can't be foreseen.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Instance

from course_tasks.errors import NOT_DEFINED
from course_tasks.runner import frames
from course_tasks.runner.limits import MEGABYTE
from course_tasks.runner.outputs import Outputs

# Of all that a submission sends out, pictures take half at most, where three bytes are written as
# four characters. Further ones are dropped, so that the answers behind them have room.
PART_FOR_PICTURES = 3 / 8

# The tasks import torch, but the isolation is tried in a process that has not imported it yet; see
# `ready_for_tasks`.
if TYPE_CHECKING:
    from traitlets.config import Config

    from course_tasks.checking import Recorded

_COLOR = re.compile("\x1b\\[[0-9;]*m")

# Signs that only IPython's own syntax has: magics, system commands, help, and at the beginning of a
# line those that quote the rest of it or call it.
_OWN_SYNTAX = re.compile(r"[%!?]|^\s*[,;/]", re.MULTILINE)

# Without one of these words, which Python takes in no other letters, a cell waits for nothing.
_WAITS = re.compile("async|await")

_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class _Stream(io.TextIOBase):
    """A stdout or stderr that ends in the outputs of the cell that runs."""

    def __init__(self, name: str, outputs: Callable[[], Outputs]):
        self._name, self._outputs = name, outputs

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs().write(self._name, text)
        return len(text)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"


class _Publisher(DisplayPublisher):
    shell: Shell

    def publish(self, data: dict[str, Any], **_: Any) -> None:  # type: ignore[override]
        self.shell.outputs.display("display_data", data)

    def clear_output(self, wait: bool = False) -> None:  # noqa: ARG002
        self.shell.outputs.clear()


class _Hook(DisplayHook):
    shell: Shell

    def start_displayhook(self) -> None:
        pass

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], _md_dict: Any = None) -> None:
        self.shell.outputs.display("execute_result", format_dict, self.prompt_count)

    def finish_displayhook(self) -> None:
        pass


class CellTransformers(TransformerManager):
    """IPython's own, but a cell is only split into tokens if that can change it, which saves a
    third of the time that short cells take.
    """

    def __init__(self) -> None:
        super().__init__()
        self._usual = list(self.token_transformers)

    def do_token_transforms(self, lines: list[str]) -> list[str]:
        """The lines of a cell with IPython's own syntax made into Python."""
        if self.token_transformers == self._usual and not _OWN_SYNTAX.search("".join(lines)):
            return lines
        return super().do_token_transforms(lines)


class Shell(InteractiveShell):
    """IPython without a kernel around it: its outputs are kept, not sent."""

    input_transformer_manager = Instance(CellTransformers, ())
    outputs: Outputs

    def init_display_pub(self) -> None:
        """Displayed pictures go to the outputs."""
        self.display_pub = _Publisher(parent=self, shell=self)

    def init_displayhook(self) -> None:
        """So does the value of a cell's last line."""
        self.displayhook_class = _Hook
        super().init_displayhook()

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        name = getattr(etype, "__name__", str(etype))
        with contextlib.suppress(Exception):  # an exception's own words may raise
            self.outputs.error(name, str(evalue), [_COLOR.sub("", str(line)) for line in stb])

    def should_run_async(
        self, raw_cell: str, *, transformed_cell: Any = None, **given: Any
    ) -> bool:
        """Whether a cell awaits something. IPython compiles it to find out, here only if it may."""
        if transformed_cell is not None and not _WAITS.search(transformed_cell):
            return False
        return bool(super().should_run_async(raw_cell, transformed_cell=transformed_cell, **given))

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing, since there is no window system and `%matplotlib inline` needs none."""

    def ask_exit(self) -> None:
        """Do nothing if a cell calls `exit`, because other cells still count."""

    def system(self, cmd: str) -> None:
        """Run `!command`, whose prints are outputs like all others."""
        import subprocess

        done = subprocess.run(
            self.var_expand(cmd, depth=1), shell=True, capture_output=True, text=True, check=False
        )
        self.outputs.write("stdout", done.stdout)
        self.outputs.write("stderr", done.stderr)
        self.user_ns["_exit_code"] = done.returncode


def check_later(task: str, answer: Any, **_: Any) -> Recorded:  # noqa: ARG001
    """Replaces `check` in the student's own cells, since the judges are elsewhere and ask later."""
    from course_tasks.checking import Recorded

    return Recorded(task)


def new_shell() -> Shell:
    """The shell that every run starts from; made once, before any student code."""
    shell: Shell = Shell.instance(config=_settings())
    shell.outputs = Outputs(0, 0)
    return shell


def passing_shell() -> Shell:
    """Another shell like it, which `get_ipython` does not know of."""
    shell = Shell(config=_settings())
    shell.outputs = Outputs(0, 0)
    return shell


def _settings() -> Config:
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.autoawait = True
    return config


def ready_for_tasks() -> None:
    """Import the tasks and with them torch, once, before any student code.

    `check` and `experiment` are replaced, because checks are asked later, and experiments have been
    run by the student already.
    """
    import course_tasks
    from course_tasks import catalogue, checking, experiments  # noqa: F401

    course_tasks.check = checking.check = check_later  # type: ignore[assignment]
    elsewhere = experiments.experiment_elsewhere
    course_tasks.experiment = experiments.experiment = elsewhere


def run_job(shell: Shell, wire: socket.socket) -> None:
    """Run one submission: read the job from the wire, write results to it as they come.

    Parameters
    ----------
    shell : Shell
        Fresh: no student code has run in this process.
    wire : socket
        A header with the steps and limits comes in, followed by a message for each task's inputs.
        One message for each step goes out.
    """
    received = frames.receive(wire)
    if received is None:
        return
    job, _ = received
    inputs: dict[str, bytes] = {}
    for _number in range(job["inputs"]):
        each = frames.receive(wire)
        if each is None:
            return
        inputs[each[0]["task"]] = each[1]
    limits = job["limits"]
    most_text, most_pictures = (
        limits[f"{kind}_kilobytes"] * 1024 for kind in ("output", "picture")
    )
    left_for_pictures = int(limits["answer_megabytes"] * MEGABYTE * PART_FOR_PICTURES)
    for number, step in enumerate(job["steps"]):
        shell.outputs = outputs = Outputs(most_text, min(most_pictures, left_for_pictures))
        payload, problem = b"", ""
        with redirected(shell):
            if step["kind"] == "code":
                problem = run_cell(shell, step["source"])
            elif step["kind"] == "defend":
                payload, problem = _vary(step, shell, inputs)
            else:
                payload, problem = _ask(shell, step, inputs)
        header = {
            "step": number,
            "outputs": outputs.finished(),
            "problem": problem,
        }
        left_for_pictures -= outputs.picture_bytes
        frames.send(wire, header, payload)


def run_cell(shell: Shell, source: str) -> str:
    """Run one cell; the name of the error that ended it, or nothing."""
    try:
        done = shell.run_cell(source, store_history=True)
        error = done.error_before_exec or done.error_in_exec
        if isinstance(done.error_in_exec, Exception):
            _define_the_rest(shell, source, done.error_in_exec)
    except KeyboardInterrupt:
        return "interrupted"
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return type(error).__name__ if error is not None else ""


def _define_the_rest(shell: Shell, source: str, error: Exception) -> None:
    """What a cell imports and defines below the line that failed: a package that only the student
    has, or a line that was left from trying, takes nothing away that does not need it.
    """
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals is shell.user_ns and frame.f_code.co_name == "<module>"
    ]
    if not frames:
        return
    file, failed = frames[0]
    with contextlib.suppress(SyntaxError, ValueError):
        for statement in ast.parse(shell.transform_cell(source)).body:
            if statement.lineno > failed and isinstance(statement, _DEFINITIONS):
                with contextlib.suppress(Exception):  # it may need what failed
                    exec(compile(ast.Module([statement], []), file, "exec"), shell.user_ns)


def _ask(shell: Shell, step: Mapping[str, Any], inputs: Mapping[str, bytes]) -> tuple[bytes, str]:
    """The answers to one task, or why there are none."""
    from course_tasks import catalogue
    from course_tasks.probing import run_on_bytes

    name = step["answer"]
    if name not in shell.user_ns:
        return b"", f"`{name}` {NOT_DEFINED}"
    try:
        answer = shell.user_ns[name]
        return run_on_bytes(catalogue.probe(step["task"]), answer, inputs[step["task"]]), ""
    except KeyboardInterrupt:
        return b"", "interrupted"
    except BaseException as error:  # whatever an answer can do to the code that reads it
        return b"", f"the answer could not be read: {type(error).__name__}: {_words(error)}"


def _vary(step: Mapping[str, Any], shell: Shell, inputs: Mapping[str, bytes]) -> tuple[bytes, str]:
    """What runs of an answer and its variants found, or why there are none."""
    from course_tasks import catalogue
    from course_tasks.variant_runs import run_variants_on_bytes

    try:
        probe = catalogue.probe(step["task"])
        return run_variants_on_bytes(probe, shell.user_ns, inputs[step["task"]]), ""
    except KeyboardInterrupt:
        return b"", "interrupted"
    except BaseException as error:  # whatever an answer can do to the code that runs it
        return b"", f"the code could not be run: {type(error).__name__}: {_words(error)}"


def _words(error: BaseException) -> str:
    try:
        return str(error)[:500]
    except Exception:  # an exception's own words may raise
        return "(it has no words)"


@contextlib.contextmanager
def redirected(shell: Shell) -> Iterator[None]:
    """Inside the block, what is printed goes to the outputs of the cell that runs."""
    kept = sys.stdout, sys.stderr, sys.stdin
    sys.stdout = _Stream("stdout", lambda: shell.outputs)
    sys.stderr = _Stream("stderr", lambda: shell.outputs)
    sys.stdin = io.StringIO()
    try:
        yield
    finally:
        sys.stdout, sys.stderr, sys.stdin = kept
