"""What *Defend it* can ask about right answers, how long a class takes, and whether keys hold.

    python -m benchmarks.defending                 questions available, by task and style
    python -m benchmarks.defending 05 06/fused     of these
    python -m benchmarks.defending --solve 200     so many questions, solved again in a bare Python
    python -m benchmarks.defending --class 60      papers for a class, through the command

The answers are those of the tests' collections. One that a function of the collection makes when it
is called is left out: no notebook has such an answer. Solving again takes what stands on the paper,
and nothing else that was recorded: it edits the printed code by the words of a question, runs it,
and looks with Python's own tracing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import inspect
import itertools
import json
import os
import re
import resource
import shutil
import signal
import statistics
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_judges.defending import asking, choosing, kinds, papers
from course_judges.defending.asking import unasked
from course_judges.defending.own_words import TOKENS, shows_answer
from course_judges.defending.program import program_of
from course_judges.defending.shown import GENERATOR, Shown
from course_judges.defending.values import Value, written
from course_tasks import catalogue
from course_tasks.variant_runs import run_variants_on_bytes

ROOT = Path(__file__).parent.parent
STUDENTS = ROOT / "tests" / "tasks"
WANTED, SHARE = 8, 0.8
# Some printed variant may be a loop without end, or fill memory.
SECONDS_OF_A_CALL, GIGABYTES = 5, 4
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def answers(chosen):
    """(task, style, program, what its module knows) of right answers."""
    sys.path.insert(0, str(STUDENTS))
    from students import students_of

    for task in catalogue.names():
        if chosen and not any(task.startswith(one) for one in chosen):
            continue
        if unasked(task):
            continue
        for style, answer in students_of(task).RIGHT.items():
            module = inspect.getmodule(answer)
            name = getattr(answer, "__qualname__", "<none>")
            try:
                program = program_of([inspect.getsource(module)], name)
            except (TypeError, OSError):
                program = None
            if program is not None and _defines(program, answer):
                yield task, style, program, vars(module)


def _defines(program, answer):
    """False for a class whose name in the collection is that of a method it was made from."""
    wanted = ast.ClassDef if inspect.isclass(answer) else ast.FunctionDef
    return any(isinstance(node, wanted) and node.name == program.name for node in program.tree.body)


def found_of(task, program, space, student):
    """What running an answer's variants found."""
    plan = asking.plan(task, program, choosing.seed_of(1, task, student))
    return asking.found(plan, run_variants_on_bytes(catalogue.probe(task), space, plan.message()))


def available(chosen):
    """Print how many questions there are for each task."""
    counts = defaultdict(list)
    for task, style, program, space in answers(chosen):
        shown = Shown(found_of(task, program, space, style))
        made = kinds.questions(shown, np.random.default_rng(0))
        kind = Counter(one.kind for one in made)
        counts[task].append(len(made))
        print(f"{task:22} {style:36.36} {len(made):3}  {dict(kind)}", flush=True)
    low = {task: min(found) for task, found in counts.items() if min(found) < WANTED}
    share = 1 - len(low) / max(1, len(counts))
    print(f"\n{len(counts)} tasks, {sum(map(len, counts.values()))} answers")
    print(f"{share:.0%} of the tasks have {WANTED} questions in every style (wanted: {SHARE:.0%})")
    print(f"median of all answers: {statistics.median(itertools.chain(*counts.values())):g}")
    for task, least in low.items():
        print(f"  {task}: {least} in one style, {max(counts[task])} in another")
    for task in catalogue.names():
        if (why := unasked(task)) and (not chosen or any(task.startswith(o) for o in chosen)):
            print(f"  {task}: none, since {why}")


# Solving again.


def changed(code, words):
    """The printed code with a change as a question words it."""
    lines = dict(code)
    left_out = re.match(r"(?:You )?[Ll]eave out (lines? [\d–]+)", words)
    becomes = re.match(r"(Lines? [\d–]+) becomes? `(.*?)`(?:\.|$)", words)
    numbers = [int(n) for n in re.findall(r"\d+", (left_out or becomes).group(1))]
    first, last = numbers[0], numbers[-1]
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    new = indent + ("pass" if left_out else becomes.group(2))
    return "\n".join(
        new if n == first else text
        for n, text in sorted(lines.items())
        if n == first or not first < n <= last
    )


class Bare:
    """A paper's code and inputs in a Python that knows nothing else."""

    def __init__(self, shown, space):
        self.shown, self.space = shown, space
        self.code = tuple(shown.program.quoted(1, len(shown.program.lines)))

    def arguments(self):
        held = {}
        for one in self.shown.given:
            value = self.shown.arguments[one.name]
            text = re.sub(r"(-?)∞", r'float("\1inf")', one.text).replace("NaN", 'float("nan")')
            if value.text == GENERATOR:
                held[one.name] = torch.Generator()
            elif value.kind != "array":
                held[one.name] = eval(one.text, {"tensor": torch.tensor})
            elif value.python:
                held[one.name] = eval(text)
            else:
                held[one.name] = torch.tensor(eval(text))
                if value.array.dtype.kind == "f":
                    held[one.name] = held[one.name].float()
        return held

    def call(self, source, change=None):
        """What the asked function returns; the error where it stops."""
        own = dict(self.space)
        signal.setitimer(signal.ITIMER_REAL, SECONDS_OF_A_CALL)
        try:
            exec(compile(source, "<paper>", "exec"), own)
            held = self.arguments()
            if change:
                held = change(held)
            name = self.shown.function
            if "." not in name:
                return own[name](**held)
            owner, _, method = name.rpartition(".")
            built = {n.split("(")[1][:-3]: v for n, v in held.items() if n.endswith("=…)")}
            module = own[owner](**built)
            with torch.no_grad():
                for weight, value in held.items():
                    if weight.startswith("self."):
                        module.get_parameter(weight[5:]).copy_(value)
                rest = {
                    n: v
                    for n, v in held.items()
                    if not n.startswith("self.") and not n.endswith("=…)")
                }
                return getattr(module, method)(**rest)
        except Exception as error:
            return error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def as_value(result):
    if isinstance(result, dict | set | str):
        return Value("text", text=repr(result))
    if isinstance(result, torch.Tensor):
        result = result.detach().numpy()
    array = np.asarray(result)
    return Value("array", array, array.shape)


def alike(one, other):
    """Whether two results hold the same numbers, however they are nested."""
    if isinstance(one, list | tuple | dict) and type(one) is type(other):
        pairs = (one.items(), other.items()) if isinstance(one, dict) else (one, other)
        return len(one) == len(other) and all(itertools.starmap(alike, zip(*pairs, strict=True)))
    if isinstance(one, str | type(None)) or isinstance(other, str | type(None)):
        return type(one) is type(other) and one == other
    return as_value(one).same(as_value(other))


def traced(bare, line, name):
    """What a name holds after a line has run for the first time, by Python's own tracing."""
    kept = {}

    def look(frame, event, _):
        if frame.f_code.co_filename != "<paper>":
            return None
        before = kept.get(("at", id(frame)))
        if before == line and line not in kept and name in frame.f_locals:
            kept[line] = as_value(_copy(frame.f_locals[name]))
        if event == "line":
            kept["at", id(frame)] = frame.f_lineno
        return look

    sys.settrace(look)
    try:
        bare.call("\n".join(text for _, text in bare.code))
    finally:
        sys.settrace(None)
    return kept.get(line)


def _copy(value):
    return value.detach().clone() if isinstance(value, torch.Tensor) else copy.deepcopy(value)


def solved(bare, question):
    """The option that solving finds; None if none fits, -1 if this kind isn't solved here."""
    texts = [option.text for option in question.options]
    if question.kind in ("read", "shape"):
        found = re.match(
            r"(?:What does|What is the shape of) `(\w+)(.*?)`.* right after your line (\d+)",
            question.text,
        )
        if not found:
            return -1
        name, index, line = found.groups()
        value = traced(bare, int(line), name)
        if value is None:
            return -1
        if question.kind == "shape":
            said = f"`({value.shape[0]},)`" if len(value.shape) == 1 else f"`{value.shape}`"
        else:
            said = f"`{written(value.at(tuple(map(int, re.findall(r'[0-9]+', index)))))}`"
        return texts.index(said) if said in texts else None
    entry = re.search(r"entry `\[([\d, ]+)\]`", question.text)
    part = re.search(r"the (\w+) value that|`\['(\w+)'\]` of what", question.text)

    def of_part(result):
        number, key = part.groups()
        return result[key] if key else result[ORDINALS.index(number)]

    def part_of(result):
        if part:
            result = of_part(result)
        value = as_value(result)
        if entry and value.shape == whole.shape:
            value = value.at(tuple(map(int, entry.group(1).split(","))))
        return value

    source = "\n".join(text for _, text in bare.code)
    if question.kind in ("change", "find"):
        whole = bare.call(source)
        whole = as_value(of_part(whole) if part else whole)
        mine = part_of(bare.call(source))
    if question.kind == "change":
        result = bare.call(changed(bare.code, question.text))
        said = kinds._STOPS
        if not isinstance(result, Exception):
            said = kinds._said(part_of(result), mine)
        return texts.index(said) if said in texts else None
    if question.kind == "find":
        wanted = question.text.partition(" is ")[2].removesuffix(". With which?")
        fitting = []
        for number, text in enumerate(texts):
            result = bare.call(changed(bare.code, text))
            if not isinstance(result, Exception) and kinds._said(part_of(result), mine) == wanted:
                fitting.append(number)
        return fitting[0] if len(fitting) == 1 else None
    if question.kind == "same":
        before = bare.call(source)
        fitting = []
        for number, text in enumerate(texts):
            result = bare.call(changed(bare.code, text))
            if isinstance(result, Exception):
                continue
            if alike(before, result):
                fitting.append(number)
        # Another one may agree on this input by chance; it differs on drawn ones.
        return question.right if question.right in fitting else None
    if question.kind == "stop":
        results = [bare.call(changed(bare.code, text)) for text in texts]
        fitting = [n for n, one in enumerate(results) if isinstance(one, Exception)]
        return fitting[0] if len(fitting) == 1 else None
    if question.kind == "nan":
        results = [bare.call(source, specially(text)) for text in texts]
        fitting = [n for n, one in enumerate(results) if holds_nan(one)]
        return fitting[0] if len(fitting) == 1 else None
    if question.kind == "leak":
        fitting = [n for n, text in enumerate(texts) if leaks(bare, changed(bare.code, text))]
        return fitting[0] if len(fitting) == 1 else None
    if question.kind == "scale":
        return of_growth(bare, question)
    return -1


def specially(words):
    """The change of an input that an option of a question about NaN names."""
    name = re.search(r"`([^`]+?)(?:\[0[0, ]*\])?`", words).group(1)

    def change(held):
        array = held[name].clone()
        if "opposite" in words:
            array = -array
        elif "times as large" in words:
            array = array * int(re.search(r"(\d+) times", words).group(1))
        elif words.startswith("Every number") and "[0" not in words:
            array[...] = float(words.rpartition(" ")[2])
        else:
            array[(0,) * max(1, array.ndim - 1)] = -torch.inf if "−∞" in words else 0.0
        return {**held, name: array}

    return change


def holds_nan(result):
    if isinstance(result, list | tuple | dict):
        held = result.values() if isinstance(result, dict) else result
        return any(map(holds_nan, held))
    if isinstance(result, str | type(None) | Exception):
        return False
    array = as_value(result).array
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def leaks(bare, source):
    """Whether a later position changes an earlier result, by changing the last position."""
    first = next(
        value
        for name, value in bare.arguments().items()
        if isinstance(value, torch.Tensor) and value.ndim > 1 and not name.startswith("self.")
    )
    T = first.shape[-2]

    def otherwise(held):
        made = {}
        for name, value in held.items():
            made[name] = value
            numbers = isinstance(value, torch.Tensor) and value.dtype != torch.bool
            if numbers and not name.startswith("self."):
                made[name] = value = value.clone()
                for axis in range(max(0, value.ndim - 2), value.ndim):
                    if value.shape[axis] == T:
                        last = value.select(axis, T - 1)
                        last += torch.randint(1, 4, last.shape).to(last.dtype)
        return made

    earlier = False
    for seed in range(6):
        torch.manual_seed(seed)
        results = [bare.call(source), bare.call(source, otherwise)]
        one, other = (torch.as_tensor(as_value(result).array) for result in results)
        axis = max(n for n in range(one.ndim - 1 or 1) if one.shape[n] == T)
        before = [part.narrow(axis, 0, T - 1) for part in (one, other)]
        earlier |= not torch.allclose(*before, atol=1e-5, equal_nan=True)
    return earlier


class Counting(TorchDispatchMode):
    """Counts multiplications of matrix products, and numbers that go into or come out of all else,
    by line, below what `course_tasks.variant_runs` looks at.
    """

    def __init__(self):
        super().__init__()
        self.lines = Counter()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != "<paper>":
            frame = frame.f_back
        if frame is not None:
            name = function.overloadpacket.__name__
            made = _numel(result)
            if name in ("mm", "bmm", "dot", "mv", "addmm"):
                made *= args[-2 if name == "addmm" else 0].shape[-1]
            elif function.is_view:
                made = 0
            else:
                made = max(made, *map(_numel, args), 0)
            self.lines[frame.f_lineno] += made
        return result


def _numel(value):
    if isinstance(value, list | tuple):
        return sum(map(_numel, value))
    return value.numel() if isinstance(value, torch.Tensor) else 0


def of_growth(bare, question):
    """How often a line computes when the lengths double that a question names."""
    shapes = re.findall(r"`([^`]+)` has the shape `(.+?)` instead of `(.+?)`", question.text)
    numbers = re.findall(r"`([^`]+)` is (\d+) instead of (\d+)", question.text)

    def longer(which):
        def change(held):
            made = dict(held)
            for name, *two in shapes:
                shape = ast.literal_eval(two[which])
                old = held[name]
                made[name] = torch.zeros(shape, dtype=old.dtype) + old.flatten()[0]
            for name, *two in numbers:
                whole = next(n for n in held if n in (name, n[: n.find("(")] + f"({name}=…)"))
                made[whole] = int(two[which])
            return made

        return change

    counts = []
    for which in (1, 0):
        with Counting() as mode:
            result = bare.call("\n".join(text for _, text in bare.code), longer(which))
        if isinstance(result, Exception):
            return -1
        counts.append(mode.lines)
    growth = {line: counts[1][line] / n for line, n in counts[0].items() if n}
    texts = [option.text for option in question.options]
    if "Which line" in question.text:
        lines = [int(re.match(r"Line (\d+)", text).group(1)) for text in texts]
        fitting = [n for n, line in enumerate(lines) if abs(growth.get(line, 1) / 4 - 1) < 0.2]
        return fitting[0] if len(fitting) == 1 else None
    line = int(re.search(r"your line (\d+)", question.text).group(1))
    if line not in growth:
        return -1
    near = min((1, 2, 4, 8), key=lambda n: abs(growth[line] / n - 1))
    words = {1: "stays as it is", 2: "doubles", 4: "4 times", 8: "8 times"}[near]
    return next(n for n, text in enumerate(texts) if words in text)


def _too_long(_number, _frame):
    raise TimeoutError(f"took more than {SECONDS_OF_A_CALL} s")


def solve(most, chosen):
    """Solve questions of many papers again, and print which keys do not hold."""
    tried, wrong, skipped = Counter(), [], Counter()
    shown_pieces = 0
    resource.setrlimit(resource.RLIMIT_DATA, (GIGABYTES * 2**30,) * 2)
    signal.signal(signal.SIGALRM, _too_long)
    rng = np.random.default_rng(0)
    every = list(answers(chosen))
    for number in rng.permutation(len(every)):
        task, style, program, space = every[number]
        found = found_of(task, program, space, style)
        paper = papers.paper(found, style, int(rng.integers(2**31)))
        bare = Bare(Shown(found), space)
        shown_pieces += leaked(task, program, paper)
        for question in paper.questions:
            if question.kind != "why" and not bare.shown.on_paper:
                skipped[question.kind] += 1
                continue
            try:
                mine = solved(bare, question)
            except Exception as error:
                mine = f"{type(error).__name__}: {error}"
            if mine == -1:
                skipped[question.kind] += 1
                continue
            tried[question.kind] += 1
            if mine != question.right:
                wrong.append((task, style, question, mine))
        if sum(tried.values()) >= most:
            break
    print(f"{sum(tried.values())} questions solved again: {dict(tried)}")
    print(f"not solved here: {dict(skipped)}")
    print(f"papers with {TOKENS} tokens of the reference in a row: {shown_pieces}")
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
    print(f"keys that do not hold: {len(wrong)}")
    for task, style, question, mine in wrong:
        print(f"\n{task} {style} {question.kind} right {question.right} mine {mine}")
        print(f"  {question.text}")
        for option in question.options:
            print(f"  - {option.text}  [{option.reason}]")


def leaked(task, program, paper):
    """Whether a paper shows a piece of the reference that the student did not write."""
    texts = [
        text
        for question in paper.questions
        for text in (question.text, *(t for o in question.options for t in (o.text, o.reason)))
    ]
    quoted = {code for text in texts for code in re.findall(r"`([^`]+)`", text)}
    # A shape or a table of numbers is no code.
    pieces = {code for code in quoted if re.search("[A-Za-z]", code)}
    shown = [code for code in pieces if shows_answer(task, program.source, code)]
    for code in shown:
        print(f"{task}: a piece of the reference: {code}")
    return bool(shown)


# A class.


def class_of(size, folder):
    """A course with so many submissions of 05-head, in four styles of each of its functions."""
    name = "05-head"
    root = folder / "course"
    root.mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for part in ("solutions", "exercises"):
        shutil.copytree(ROOT / part, root / part)
    sys.path.insert(0, str(STUDENTS))
    from students import students_of

    notebook = json.loads((root / "exercises" / name / f"{name}.ipynb").read_text())
    styles = {
        "attention_scores": list(students_of("05/scores").RIGHT.values()),
        "causal_weights": list(students_of("05/weights").RIGHT.values()),
    }
    for number in range(size):
        made = json.loads(json.dumps(notebook))
        for cell in made["cells"]:
            source = "".join(cell["source"])
            for function, own in styles.items():
                if cell["cell_type"] == "code" and source.startswith(f"def {function}("):
                    answer = own[number % len(own)]
                    text = inspect.getsource(answer).replace(answer.__name__, function)
                    head = "import math\nimport numpy as np\nimport torch.nn.functional as F\n"
                    cell["source"] = [head + text]
        target = root / "submitted" / f"s{number:03}" / name
        target.mkdir(parents=True)
        (target / f"{name}.ipynb").write_text(json.dumps(made), encoding="utf-8")
    return root


def of_class(size):
    """Time the command on a class, and compare its papers with each other."""
    from course_grader.batch import grade
    from course_grader.course import Course
    from course_grader.defend.command import write_pages
    from course_grader.defend.papers import make
    from course_grader.release import release

    with tempfile.TemporaryDirectory(prefix="course-defend-") as folder:
        course = Course(class_of(size, Path(folder)))
        release(course, "05-head", gradebook=True)
        grade(course, "05-head")
        began = time.monotonic()
        made = make(course, "05-head")
        write_pages(made)
        took = time.monotonic() - began
        print(f"{len(made.papers)} papers with keys in {took:.1f} s; without: {made.left[:5]}")
        load = os.getloadavg()[0]
        print(f"load of the machine: {load:.1f}")
        print(f"tasks: {dict(Counter(one.task for one in made.papers))}")
        print(f"questions: {dict(Counter(len(one.questions) for one in made.papers))}")
        overlaps = [
            choosing.overlap(one, other)
            for one, other in itertools.combinations(made.papers, 2)
            if one.task == other.task
        ]
        above = sum(one > choosing.MOST_ALIKE for one in overlaps)
        print(
            f"{above} of {len(overlaps)} pairs have more than {choosing.MOST_ALIKE:.0%} in common"
        )
        print(f"overlap of two papers: mean {np.mean(overlaps):.1%}, most {max(overlaps):.1%}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chosen", nargs="*", help="tasks or chapters; all without")
    parser.add_argument("--solve", type=int, default=0, metavar="N", help="solve questions again")
    parser.add_argument("--class", type=int, default=0, dest="size", metavar="N")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if asked.solve:
        solve(asked.solve, asked.chosen)
    elif asked.size:
        of_class(asked.size)
    else:
        available(asked.chosen)


if __name__ == "__main__":
    main()
