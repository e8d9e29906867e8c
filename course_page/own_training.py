"""A reader's own GPT trains in the page, a fraction of a second at a time.

In between, Python can check an answer, and the page can let the training rest. What trains is the
program's own `train`, made a generator by `stepwise`, or a loop of the page's while there is none.
A clock that rests with it takes the place of the program's.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import functools
import itertools
import json
import math
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib import own_program, role_map
from course_lib.contexts import evaluation_mode
from course_lib.data.corpora import TRAIN_SHARE_OF_TEXT
from course_lib.errors import CheckpointError, ConfigError
from course_lib.model import count_parameters
from course_page import session
from course_page.errors import ProgramStoppedError, TrainingError
from course_page.stepwise import stepwise

OWN = "own"
"""The name of a training by the program's own `train`."""

LOOPS: Mapping[str, tuple[tuple[int, int, int, int], float]] = {
    "one head": ((8, 32, 1, 1), 0.01),
    "two blocks": ((16, 32, 4, 2), 0.004),
}
"""The page's loops: block_size, n_embd, n_head and n_layer of what they train, and the learning
rate, which falls to a tenth.
"""

BATCH = 32
"""Windows in a batch of the page's loops."""

EVERY = 1.0
"""Seconds of training between two looks at the loss on held-out text, each with a text written.

Where a look takes long, there is more training between two: at least twice its time.
"""

_ESTIMATED, _EXACT = 1024, 20_000  # targets of the held-out text
_ROWS_AT_ONCE = 1024
_LEAST, _MOST, _MOST_SYMBOLS = 2_000, 5_000_000, 256
_WRITTEN = (12, 160)  # symbols
_WRITING_SHARE = 0.12  # of a second of training

# As they are before a program may get others.
_now, _CLOCKS = time.perf_counter, ("monotonic", "perf_counter", "time")


class Clock:
    """Time that passes only while a program trains."""

    def __init__(self) -> None:
        self._away, self._left = 0.0, _now()

    @property
    def seconds(self) -> float:
        """Of training since the clock was made; meant for inside of `running`."""
        return _now() - self._away

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Inside, it goes on, and the functions of `time` tell it."""
        self._away += _now() - self._left
        real = {name: getattr(time, name) for name in _CLOCKS}
        for name, function in real.items():
            setattr(time, name, functools.partial(self._told, function))
        try:
            yield
        finally:
            for name, function in real.items():
                setattr(time, name, function)
            self._left = _now()

    def _told(self, function: Callable[[], float]) -> float:
        return function() - self._away


class OwnTraining:
    """A program that trains on a text.

    Parameters
    ----------
    request : dict
        `before` and `source` as for `session.check`: the cells that define `GPT`, and `train` if
        `loop` is `OWN`; `writes` (the cell that defines `write`, or nothing); `text`, or `packed`
        (deflated, in base64); `loop` (`OWN`, or one of `LOOPS`); `seconds`; `known` (name to loss
        of other models on this text); `seed`, if wanted.

    Raises
    ------
    TrainingError
        If the text will not do, or the program defines no GPT.
    ProgramStoppedError
        If a cell stops.
    """

    def __init__(self, request: Mapping[str, Any]):
        self._loop, self._seconds = request["loop"], float(request["seconds"])
        text = _text(request)
        cut = int(TRAIN_SHARE_OF_TEXT * len(text))
        self._text, rest = text[:cut], text[cut:]
        self.alphabet = sorted(set(self._text))
        numbers = {symbol: number for number, symbol in enumerate(self.alphabet)}
        self._held_out = torch.tensor([numbers[one] for one in rest if one in numbers])
        known = own_program.LADDER if _is_shakespeare(text) else request.get("known") or {}
        self.lines = _lines(self._text, rest, known)
        self._clock = Clock()
        self._write: Callable[..., str] | None = None
        self._wrote = ""  # why the program's own `write` is not used
        self._noted: list[tuple[nn.Module, dict[str, int]]] = []
        self._steps = 0
        self._spent = self._looked = self._look_takes = 0.0
        self._losses: list[float] = []
        self._model: nn.Module | None = None
        self._per_symbol = 0.01
        if request.get("seed") is not None:
            torch.manual_seed(int(request["seed"]))
        self._training = self._begun(request)

    # ---- the program -----------------------------------------------------------------------------

    def _begun(self, request: Mapping[str, Any]) -> Generator[Any, None, Any]:
        cells = [*request["before"], request["source"]]
        own = self._loop == OWN
        made = _stepwise(cells) if own else None
        if own and "raise NotImplementedError" in request["source"]:
            raise TrainingError("There is no `train` yet: fill in its cell first.")
        if own and made is None:
            raise TrainingError(
                "The page can train with your `train` only if it, or a function that it calls, has "
                "a statement such as `optimizer.step()`. Below the model, the page trains your GPT "
                "with a loop of its own."
            )
        with self._clock.running():
            space = _defined(cells, made)
            if "GPT" not in space:
                raise TrainingError("There is no GPT yet: fill in the cell of the model first.")
            if own and not callable(space.get("train")):
                raise TrainingError("There is no `train`: fill in its cell first.")
            if request.get("writes") and own:
                error = session.run_cell(space, request["writes"], "the cell of write")[1]
                self._write = space.get("write") if error is None else None
            self._GPT = space["GPT"]
            if own:
                return space["train"](self._text, self._seconds)
            return self._by_page()

    def _by_page(self) -> Generator[Any, None, nn.Module]:
        """The page's loop: AdamW, at a rate that falls with the time."""
        (T, *sizes), rate = LOOPS[self._loop]
        numbers = {symbol: number for number, symbol in enumerate(self.alphabet)}
        data = torch.tensor([numbers[symbol] for symbol in self._text])
        model = self._GPT(len(self.alphabet), T, *sizes)
        optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
        began = self._clock.seconds
        while (share := (self._clock.seconds - began) / self._seconds) < 1:
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1.0, 1.1 - share)
            places = torch.randint(len(data) - T, (BATCH, 1)) + torch.arange(T)
            tokens, targets = data[places], data[places + 1]
            loss = _loss_of(model(tokens, targets), targets, len(self.alphabet))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield optimizer
        return model

    def go_on(self, seconds: float) -> dict[str, Any]:
        """Train for so long, and at least for one step if that is not 0; say how far it is.

        Returns
        -------
        dict
            `step`, `seconds` (of training), `speed` (steps a second), `loss` (on the batches since
            the last report, or None), `parameters`, `done`; and every second of training, and at
            the end, what `look` says.
        """
        done, returned = False, None
        with self._clock.running(), own_program.models_noted(self._GPT) as noted:
            began = _now()
            while seconds > 0 and not done:
                try:
                    who = self._one_step(noted)
                except StopIteration as end:
                    done, returned = True, end.value
                else:
                    self._steps += not isinstance(who, torch.optim.lr_scheduler.LRScheduler)
                if _now() - began >= seconds:
                    break
            self._spent += _now() - began
        if done and isinstance(returned, nn.Module):
            self._model = returned
        model = self._made()
        losses, self._losses = self._losses, []
        report = {
            "step": self._steps,
            "seconds": self._spent,
            "speed": self._steps / self._spent if self._spent else 0.0,
            "loss": self._finite(sum(losses) / len(losses)) if losses else None,
            "parameters": count_parameters(model),
            "done": done,
        }
        wait = max(EVERY, 2 * self._look_takes)
        if done or self._looked == 0 or self._spent - self._looked >= wait:
            self._looked, began = self._spent, _now()
            report |= self.look(exact=done)
            self._look_takes = _now() - began
        return report

    def _finite(self, loss: float) -> float:
        if not math.isfinite(loss):
            raise TrainingError(
                f"At step {self._steps} the loss is no number any more. Is the learning rate too "
                "high, or is there a logarithm of 0?"
            )
        return loss

    def _one_step(self, noted: list[tuple[nn.Module, dict[str, int]]]) -> Any:
        try:
            return next(self._training)
        except StopIteration:
            raise
        except Exception as error:
            noted.clear()  # what is half made is no model
            raise ProgramStoppedError("your program stopped") from error
        finally:
            if noted and self._model is None:
                self._model, self._noted = noted[-1][0], noted
                self._model.register_forward_hook(self._hear)

    def _hear(self, _model: nn.Module, _given: Any, result: Any) -> None:
        """Note the loss of a batch, if the model gives one."""
        if torch.is_grad_enabled():
            scalars = [one for one in _listed(result) if isinstance(one, Tensor) and one.ndim == 0]
            self._losses += [float(one.detach()) for one in scalars[:1]]

    # ---- what others can look at -----------------------------------------------------------------

    def packed(self) -> dict[str, Any]:
        """The model as figures take it, if its parts are those of the GPT of chapter 08.

        Returns
        -------
        dict
            `weights` (a checkpoint in base64), `layers`, `prompt` (how its texts begin), `text`
            (what it wrote, as much as it reads at once), `facts` (on the training).

        Raises
        ------
        TrainingError
            Names what has no place in that GPT.
        """
        from course_figures.live_weights import write_packed

        model = self._made()
        try:
            config = own_program.config_of(self._noted[-1][1])
            with torch.random.fork_rng():
                shown = role_map.gpt_of(model, config)
        except (CheckpointError, ConfigError) as error:
            raise TrainingError(
                "The figures show the GPT of chapter 08, with a ReLU or a GELU, and no other: "
                f"{error}."
            ) from error
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "weights.safetensors"
            write_packed(path, shown, {"vocabulary": "".join(self.alphabet)})
            weights = base64.b64encode(path.read_bytes()).decode("ascii")
        with torch.random.fork_rng(), torch.no_grad():
            written = self._sample(model)[0]
        return {
            "weights": weights,
            "layers": config.n_layer,
            "prompt": self._prompt,
            "text": written[-config.block_size :],
            "facts": f"{count_parameters(model):,} parameters, {self._steps:,} steps in "
            f"{self._spent:.0f} s in a page, held-out loss "
            f"{self.held_out_loss(exact=True):.3f} nats",
        }

    # ---- how far it is ---------------------------------------------------------------------------

    def look(self, *, exact: bool) -> dict[str, Any]:
        """The loss on text that it does not learn from, and a text that it writes.

        With `exact`, on all of that text, or on 20,000 of its symbols; else on windows from all
        over it, the same each time. `targets` says on how many, and `of` of how many.
        """
        loss = self.held_out_loss(exact=exact)
        with torch.random.fork_rng(), torch.no_grad():
            sample, ours = self._sample(self._made())
        targets, of = self._windows(_EXACT if exact else _ESTIMATED)[1:]
        return {
            "validation": loss,
            "exact": exact,
            "targets": targets,
            "of": of,
            "sample": sample,
            "ours": ours,
        }

    def held_out_loss(self, *, exact: bool) -> float:
        """Nats on text that it does not learn from; see `look`."""
        with torch.random.fork_rng(), torch.no_grad():
            return self._finite(self._validation(self._made(), _EXACT if exact else _ESTIMATED))

    def _made(self) -> nn.Module:
        if self._model is None:
            raise TrainingError("`train` made no GPT(…), or returned before its first step.")
        return self._model

    @property
    def _block_size(self) -> int:
        return int(self._noted[-1][1].get("block_size", 8)) if self._noted else 8

    @property
    def _prompt(self) -> str:
        return self._text.partition("\n")[0][:20] or self._text[:1]

    def _windows(self, most: int) -> tuple[Tensor, int, int]:
        """Where windows of the held-out text begin; how many targets they have, of how many."""
        T = min(self._block_size, len(self._held_out) - 1)
        starts = torch.arange(0, len(self._held_out) - T, T)
        of = len(starts) * T
        if of > most:
            starts = starts[torch.linspace(0, len(starts) - 1, max(1, most // T)).long()]
        return starts, len(starts) * T, of

    def _validation(self, model: nn.Module, most: int) -> float:
        T, V = min(self._block_size, len(self._held_out) - 1), len(self.alphabet)
        starts = self._windows(most)[0]
        total, count = 0.0, 0
        with evaluation_mode(model):
            for part in starts.split(max(1, _ROWS_AT_ONCE // T)):
                places = part[:, None] + torch.arange(T)
                targets = self._held_out[places + 1]
                logits = self._logits(model, self._held_out[places], targets, V)
                loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
                total, count = total + float(loss), count + targets.numel()
        return total / count

    def _logits(self, model: nn.Module, tokens: Tensor, targets: Tensor, V: int) -> Tensor:
        try:
            result = model(tokens, targets)
        except Exception as error:
            raise ProgramStoppedError("your program stopped") from error
        try:
            return role_map.logits_in(result, tokens.shape[0], tokens.shape[1], V)
        except CheckpointError as error:
            raise TrainingError(
                f"Your model should give logits over the {V} symbols of the text: {error}."
            ) from error

    def _sample(self, model: nn.Module) -> tuple[str, str]:
        """A text that it writes, and if the page wrote it, why."""
        n = int(min(max(_WRITING_SHARE / self._per_symbol, _WRITTEN[0]), _WRITTEN[1]))
        prompt, began = self._prompt, _now()
        text = None
        if self._write is not None:
            try:
                text = self._write(model, prompt, n)
                if not isinstance(text, str):
                    raise TypeError(f"it returned {type(text).__name__} and no text")
            except Exception as error:  # whatever a reader's function raises is told
                self._wrote = f"your `write` stopped with {type(error).__name__}: {error}"
                self._write, text = None, None
        if text is None:
            text = self._by_hand(model, prompt, n)
        self._per_symbol = (_now() - began) / n
        return text, self._wrote

    def _by_hand(self, model: nn.Module, prompt: str, n: int) -> str:
        tokens = torch.tensor([self.alphabet.index(one) for one in prompt])
        with evaluation_mode(model):
            for _ in range(n):
                window = tokens[None, -self._block_size :]
                logits = self._logits(model, window, window, len(self.alphabet))[0, -1]
                new = torch.multinomial(logits.softmax(dim=-1), 1)
                tokens = torch.cat([tokens, new])
        return "".join(self.alphabet[one] for one in tokens.tolist())


def _defined(cells: Sequence[str], trees: Sequence[ast.Module] | None) -> dict[str, Any]:
    """What cells define; `trees` are run in their place."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(cells):
        tree = None if trees is None else trees[number]
        error = session.run_cell(space, source, f"cell {number + 1}", tree)[1]
        if error is not None:
            raise ProgramStoppedError("a cell stopped") from error
    return space


def _stepwise(cells: Sequence[str]) -> list[ast.Module] | None:
    try:
        return stepwise(cells, "train")
    except SyntaxError as error:
        raise ProgramStoppedError("a cell is no Python") from error


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


def _loss_of(result: Any, targets: Tensor, V: int) -> Tensor:
    """The loss that a model gives, or that of its logits."""
    for one in _listed(result):
        if isinstance(one, Tensor) and one.ndim == 0:
            return one
    logits = role_map.logits_in(result, targets.shape[0], targets.shape[1], V)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _text(request: Mapping[str, Any]) -> str:
    text = request.get("text") or ""
    if request.get("packed"):
        text = zlib.decompress(base64.b64decode(request["packed"])).decode("utf-8")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not _LEAST <= len(text) <= _MOST:
        raise TrainingError(
            f"The text has {len(text):,} symbols: choose one with {_LEAST:,} to {_MOST:,}."
        )
    if len(set(text)) > _MOST_SYMBOLS:
        raise TrainingError(
            f"The text has {len(set(text))} different symbols: choose one with at most "
            f"{_MOST_SYMBOLS}."
        )
    return text


def _is_shakespeare(text: str) -> bool:
    return len(text) == 1_115_394 and text.startswith("First Citizen:\n")


def _lines(text: str, held_out: str, known: Mapping[str, float]) -> list[dict[str, Any]]:
    """Losses to compare with: of a guess, of counted symbols and pairs, and of known models."""
    V = len(set(text))
    symbols, pairs = Counter(text), Counter(itertools.pairwise(text))
    asked = list(itertools.pairwise(held_out))
    single = [math.log((symbols[b] + 1) / (len(text) + V)) for _, b in asked]
    double = [math.log((pairs[a, b] + 1) / (symbols[a] + V)) for a, b in asked]
    found = {
        "guess": math.log(V),
        "symbols counted": -sum(single) / len(asked),
        "pairs counted": -sum(double) / len(asked),
        **known,
    }
    return [{"name": name, "loss": loss} for name, loss in found.items()]


# ---- what the page asks --------------------------------------------------------------------------


@functools.cache
def _place() -> dict[str, OwnTraining]:
    """Where trainings are kept from one call to the next, by the task below which they run."""
    return {}


def answer(task: str, request: str, write: session.Write | None = None) -> str:
    """Begin a training, or go on with it; see `session.train`."""
    asked = json.loads(request)
    place = _place()
    with session.printing(write) as printed:
        try:
            if "begin" in asked:
                place.pop(task, None)
                place[task] = OwnTraining(asked["begin"])
                found: dict[str, Any] = {"lines": place[task].lines}
            elif task not in place:
                raise TrainingError("The training was lost, because Python had to start again.")
            elif asked.get("packed"):
                found = place[task].packed()
            else:
                found = place[task].go_on(float(asked["seconds"]))
                if asked.get("look") and not found.get("exact"):
                    found |= place[task].look(exact=True)
        except ProgramStoppedError as error:
            place.pop(task, None)
            found = {"html": _in_words(error.__cause__ or error)}
        except TrainingError as error:
            if not asked.get("packed"):  # what cannot be shown trains all the same
                place.pop(task, None)
            found = {"says": str(error)}
    return json.dumps({**found, "stdout": "".join(printed)})


def _in_words(error: BaseException) -> str:
    """As a check says it."""
    found = session.described(error, [])
    released = isinstance(error, NotImplementedError) and not str(error)
    notes = ["This line is still as it was released: write that part first."] if released else []
    return session.stopped_html("Your program stopped", found, notes)
