"""Judges 12/seconds: the seconds of each part, on a model whose seconds are known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from course_judges.ch12_faster.sections import COST
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import number, numbers_apart, results_by_name, unwrapped
from course_tasks.answers import Array
from course_tasks.ch12_faster.seconds import PARTS
from course_tasks.verdict import Finding

# A number of tokens or calls that is read off is a whole one.
_NEAR, _HALF = 1e-2, 0.5

Measured = Callable[[nn.Module, Tensor, int, Callable[[], float]], dict[str, float]]


def _parts_of(model: Any, blocks: slice) -> dict[str, list[nn.Module]]:
    layers = list(model.blocks)[blocks]
    return {
        "embedding": [model.embedding],
        "attention": [block.attention for block in layers],
        "feed_forward": [block.feed_forward for block in layers],
        "output": [model.output],
    }


def _variant(
    *,
    warm_up: bool = True,
    adds: bool = True,
    largest: bool = False,
    blocks: slice = slice(None),
    grows: bool = True,
    reads: Callable[[Tensor, int], Tensor] = lambda text, size: text[:, -size:],
    exclusive: bool = True,
    mean: bool = False,
    removes: bool = True,
    fresh: bool = True,
    starts_late: bool = True,
    mode: bool | None = None,
    clears: bool = False,
    more: int = 0,
    shares: bool = False,
    mean_of_blocks: bool = False,
    uses_first: bool = False,
    moved: tuple[str, ...] = (),
    under: str = "output",
    hooks_again: bool = False,
) -> Measured:
    def answer(
        model: Any, prompt: Tensor, count: int, clock: Callable[[], float]
    ) -> dict[str, float]:
        model.train(model.training if mode is None else mode)
        seconds = dict.fromkeys(PARTS, 0.0)
        began: dict[nn.Module, float] = {}
        hooks = []

        def watch() -> None:
            for name, parts in _parts_of(model, blocks).items():
                for part in parts:

                    def start(module: nn.Module, _: Any) -> None:
                        began[module] = clock()

                    def stop(module: nn.Module, *_: Any, name: str = name) -> None:
                        took = clock() - began[module]
                        added = seconds[name] * adds + took
                        seconds[name] = max(seconds[name], took) if largest else added

                    hooks.append(part.register_forward_pre_hook(start))
                    hooks.append(part.register_forward_hook(stop))

        if not hooks_again:
            watch()
        text, early = prompt, clock()
        if warm_up:
            logits, _ = model(reads(text, model.block_size))
            if uses_first:
                text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
            if fresh:
                seconds.update(dict.fromkeys(PARTS, 0.0))
        first = clock() if starts_late else early
        for _ in range(count + more):
            if hooks_again:
                watch()
            logits, _ = model(reads(text, model.block_size))
            if grows:
                text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
        whole = clock() - first
        for hook in hooks if removes else []:
            hook.remove()
        for module in model.modules() if clears else []:
            module._forward_hooks.clear()
            module._forward_pre_hooks.clear()
        for name in moved:
            seconds[under] += seconds[name]
            seconds[name] = 0.0
        seconds["elsewhere"] = whole - (sum(seconds.values()) if exclusive else 0)
        if mean_of_blocks:
            seconds["attention"] /= len(model.blocks)
            seconds["feed_forward"] /= len(model.blocks)
        if shares:
            return {name: s / whole for name, s in seconds.items()}
        return {name: s / count if mean else s for name, s in seconds.items()}

    return answer


def _shown(evidence: Evidence) -> str:
    case = "cropped" if evidence.same("growing.seconds") else "growing"
    mine, right = (
        {name: float(value(f"{case}.seconds.{name}")) for name in PARTS}
        for value in (evidence.yours, evidence.right)
    )
    worst = max(PARTS, key=lambda name: abs(mine[name] - right[name]))
    yours, wanted = numbers_apart(mine[worst], right[worst])
    return (
        f"Of {number(sum(right.values()), 4)} s in all, your `{worst}` has {yours} s instead of "
        f"{wanted} s."
    )


def _seconds(case: str) -> Callable[[Evidence], bool]:
    return lambda evidence: evidence.same(f"{case}.seconds")


def _under_one_name(evidence: Evidence) -> str:
    mine, right = (
        {name: float(side(f"growing.seconds.{name}")) for name in PARTS}
        for side in (evidence.yours, evidence.right)
    )
    moved = [name for name in PARTS if abs(mine[name]) < right[name] / 1000]
    under = max(PARTS, key=lambda name: mine[name] - right[name])
    return unwrapped(f"""Your `{under}` has {number(mine[under], 4)} s instead of
    {number(right[under], 4)} s, because the seconds of {results_by_name(moved)} are in it, too. If
    you define functions in a loop and they use its variable, each looks the name up only when it is
    called, and by then the variable holds the loop's last name. Define them in a function that
    takes the name as an argument.""")


_under_the_last_name = mistake(
    "You added up the seconds of different parts under one name.",
    _under_one_name,
    cases=("growing.seconds",),
    also=(
        *(
            _variant(moved=tuple(name for name in PARTS[:4] if name != under), under=under)
            for under in PARTS[:3]
        ),
        _variant(moved=("attention",), under="feed_forward"),  # a loop within each block alone
        _variant(moved=("feed_forward",), under="attention"),
    ),
)(_variant(moved=PARTS[:3]))

_first_call_counted = mistake(
    "You counted the first call of the model, which should only warm it up.",
    lambda e: f"Call it once before you measure, because a first call prepares things. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(warm_up=False))

_warm_up_in_the_parts = mistake(
    "You counted the warm-up call in the seconds of the parts.",
    lambda e: f"Set them to 0 after that call. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(fresh=False))

_warm_up_in_elsewhere = mistake(
    "You counted the warm-up call in `elsewhere`, so start timing the whole after that call.",
    _shown,
    cases=("growing.seconds",),
)(_variant(starts_late=False))

_last_call_alone = mistake(
    "Each part has only the seconds of its last call, but all calls should be added up.",
    _shown,
    cases=("growing.seconds",),
)(_variant(adds=False))

_longest_call_alone = mistake(
    "Each part has only the seconds of its longest call, but all calls should be added up.",
    _shown,
    cases=("growing.seconds",),
)(_variant(largest=True))

_first_block_alone = mistake(
    "You timed attention and feed-forward in the first block only, but all blocks count.",
    _shown,
    cases=("growing.seconds",),
)(_variant(blocks=slice(1)))

_last_block_alone = mistake(
    "You timed attention and feed-forward in the last block only, but all blocks count.",
    _shown,
    cases=("growing.seconds",),
)(_variant(blocks=slice(-1, None)))

_one_block_missing = mistake(
    "You left out one of the blocks when you timed attention and feed-forward, but all count.",
    lambda e: f"The model has {e.number('n_layer')} blocks. {_shown(e)}",
    cases=("growing.seconds",),
    also=(_variant(blocks=slice(None, -1)),),
)(_variant(blocks=slice(1, None)))

_hooks_in_every_call = mistake(
    "You register your hooks again before each call, so later calls are counted several times.",
    lambda e: f"Register them once, before the loop. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(hooks_again=True))

_text_does_not_grow = mistake(
    "All your calls read the prompt alone, without the symbols that were written.",
    _shown,
    cases=("growing.seconds",),
)(_variant(grows=False))

_last_symbol_alone = mistake(
    "Your calls read only the last symbol, as with a cache, but the plain loop reads the whole "
    "text.",
    _shown,
    cases=("growing.seconds",),
)(_variant(reads=lambda text, _: text[:, -1:]))

_parts_counted_twice = mistake(
    "Your `elsewhere` is the whole time. Subtract what the parts took.",
    _shown,
    cases=("growing.seconds",),
)(_variant(exclusive=False))

_mean_of_the_calls = mistake(
    "You divided by the number of symbols instead of returning the seconds of the whole text.",
    _shown,
    cases=("growing.seconds",),
)(_variant(mean=True))

_shares_of_the_whole = mistake(
    "You returned shares of the whole instead of seconds.",
    lambda e: f"Your five numbers add up to 1. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(shares=True))

_mean_of_the_blocks = mistake(
    "You averaged attention and feed-forward over the blocks instead of adding them up.",
    _shown,
    cases=("growing.seconds.attention", "growing.seconds.feed_forward"),
)(_variant(mean_of_blocks=True))

_one_symbol_too_few = mistake(
    "Your loop writes one symbol too few.",
    lambda e: (
        f"`count` is {e.number('count')}, and the warm-up call isn't one of these. {_shown(e)}"
    ),
    cases=("growing.seconds",),
)(_variant(more=-1))

_first_symbol_not_timed = mistake(
    "You used the warm-up call to write the first symbol, so one symbol isn't timed.",
    lambda e: (
        unwrapped(f"""All {e.number("count")} symbols should be written after that call, starting
    from the prompt again. {_shown(e)}""")
    ),
    cases=("growing.seconds",),
)(_variant(uses_first=True, more=-1))

_first_symbol_kept = mistake(
    "You kept the symbol of the warm-up call, so your text is one symbol too long.",
    lambda e: f"After that call, start writing from the prompt alone. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(uses_first=True))

_reads_the_beginning = mistake(
    "Once the text is longer than `block_size`, your calls read its beginning instead of its end.",
    lambda e: (
        unwrapped(f"""Show the model the last `block_size` tokens, and append new symbols at the end
    of the text, not in front of it. {_shown(e)}""")
    ),
    cases=("growing.seconds", "cropped.seconds"),
)(_variant(reads=lambda text, size: text[:, :size]))

_one_symbol_too_many = mistake(
    "Your loop writes one symbol too many.",
    lambda e: f"`count` is {e.number('count')}. {_shown(e)}",
    cases=("growing.seconds",),
)(_variant(more=1))

_reads_more_than_fits = mistake(
    "You showed the model more than `block_size` tokens. Show it only the last ones.",
    lambda e: (
        f"Here it reads at most {e.number('short')}, so it refused your text when that got longer."
    ),
    recognized=lambda e: (
        e.same("growing")
        and "cropped" in e.answers.errors
        and "reads at most" in e.answers.errors["cropped"].message
    ),
)(_variant(reads=lambda text, _: text))


def _left(evidence: Evidence) -> tuple[int, int]:
    """How many of the answer's hooks, and of the `forward`s it replaced, are left in the model."""
    hooks, replaced = (evidence.yours(f"growing.given.{kind}") for kind in ("hooks", "replaced"))
    return int(hooks), int(replaced)


def _what_is_left(evidence: Evidence) -> str:
    hooks, replaced = _left(evidence)
    said = []
    if hooks:
        said.append(
            unwrapped(f"""{"1 hook" if hooks == 1 else f"{hooks} hooks"} of yours
            {"is" if hooks == 1 else "are"} still in the model. Did you keep the handles of all your
            hooks, both before and after each part, and call `remove()` on each?""")
        )
    if replaced:
        said.append(
            unwrapped(f"""{replaced} of the model's modules still
            {"has" if replaced == 1 else "have"} a `forward` that you replaced. Put back each one
            (`del part.forward`).""")
        )
    right = "The seconds are right, but " if evidence.same("cropped.seconds") else ""
    return f"{right}{' '.join(said)} What is left in a model slows down every later call."


_hooks_left = mistake(
    "You left your measurement in the model, as hooks or as replaced `forward`s.",
    _what_is_left,
    recognized=lambda e: e.same("growing.seconds") and max(_left(e)) > 0,
)(_variant(removes=False))


def _others_removed(evidence: Evidence) -> str:
    gone = int(evidence.yours("growing.given.removed"))
    return unwrapped(f"""The model came with two hooks of somebody else, and
    {"both are" if gone == 2 else "one is"} gone. `register_forward_hook` returns a handle for your
    own hook, so call `remove()` on that.""")


_others_hooks_removed = mistake(
    "You removed hooks that weren't yours.",
    _others_removed,
    recognized=lambda e: e.same("growing.seconds") and int(e.yours("growing.given.removed")) > 0,
)(_variant(clears=True))


def _mode_left(case: str) -> Callable[[Evidence], bool]:
    return lambda e: e.same(f"{case}.seconds") and int(e.yours(f"{case}.given.other_mode")) > 0


def _mode_alone(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        right = evidence.same("growing.seconds", "cropped.seconds")
        return unwrapped(f"""{"The seconds are right. " if right else ""}This concerns
        {int(evidence.yours(f"{case}.given.other_mode"))} of its modules. Restore the mode that you
        found, or leave it alone.""")

    return say


_left_in_evaluation = mistake(
    "You left the model in evaluation mode, but it was in training mode.",
    _mode_alone("growing"),
    recognized=_mode_left("growing"),
)(_variant(mode=False))

_left_in_training = mistake(
    "You left the model in training mode, but it was in evaluation mode.",
    _mode_alone("cropped"),
    recognized=_mode_left("cropped"),
)(_variant(mode=True))


class Seconds(NamedTuple):
    """The five numbers of a case, (5,) each: yours and the right ones."""

    mine: Array
    right: Array

    @property
    def off(self) -> Array:
        """(5,) bool: which of your numbers are wrong."""
        return ~close(self.mine, self.right)


def _five(side: Callable[[str], Array], case: str) -> Array:
    return np.array([float(side(f"{case}.seconds.{name}")) for name in PARTS])


def _of_case(evidence: Evidence, case: str) -> Seconds:
    return Seconds(_five(evidence.yours, case), _five(evidence.right, case))


def _named(parts: Iterable[int]) -> str:
    return results_by_name([PARTS[i] for i in parts])


def _of_elsewhere(seconds: Seconds) -> str:
    """Why only `elsewhere` is wrong, if it is 0."""
    if abs(seconds.mine[4]) >= _NEAR * seconds.right[4]:
        return ""
    return unwrapped(f"""Your `elsewhere` is 0, but {number(seconds.right[4], 4)} s are left that
    pass inside the model and outside the four parts: in each block, between attention and
    feed-forward. `elsewhere` is the time of the whole writing minus the four parts.""")


def _of_parts(seconds: Seconds, n_layer: int) -> list[str]:
    """Sentences on parts whose seconds are a whole multiple or a fraction of the right ones."""
    said = []
    for i in (i for i in range(5) if seconds.off[i]):
        if i == 4 and not close(seconds.mine.sum(), seconds.right.sum()):
            continue  # it is what the parts leave of another whole
        times = float(seconds.mine[i] / seconds.right[i])
        if 0 < times < 1 and close(np.array(1 / times), np.array(round(1 / times))):
            blocks = f", and there are {n_layer} blocks" if round(1 / times) == n_layer else ""
            said.append(
                f"Your `{PARTS[i]}` is exactly 1 / {round(1 / times)} of what it should be{blocks}."
            )
        if round(times) > 1 and close(np.array(times), np.array(round(times))):
            said.append(
                f"Your `{PARTS[i]}` is exactly {round(times)} times what it should be. Are there "
                f"{round(times)} hooks where there should be one?"
            )
    return said


def _of_calls(evidence: Evidence, case: str, seconds: Seconds) -> str:
    """How many tokens were read, if parts that take as long for each token say the same."""
    mine, right = seconds
    T, count = evidence.number("T"), evidence.number("count")
    size = evidence.number("long" if case == "growing" else "short")
    lengths = [min(T + i, size) for i in range(count)]
    tokens = sum(lengths) * mine[2:4] / right[2:4]
    if abs(tokens[0] - sum(lengths)) < _HALF or abs(tokens - tokens.round()).max() > _NEAR:
        return ""
    if round(tokens[0]) != round(tokens[1]) or tokens[0] < 1:
        return ""
    read, calls = round(tokens[0]), count * float(mine[4] / right[4])
    said = unwrapped(f"""By `feed_forward` and `output`, your calls read {read} tokens in all. It
    should be {" + ".join(map(str, lengths))} = {sum(lengths)}, since each call reads the last
    {size} tokens of the text.""")
    if abs(calls - round(calls)) < _NEAR and round(calls) > 1:
        each = f", as if each read {read // round(calls)}" if read % round(calls) == 0 else ""
        said += f" By `elsewhere`, you count {round(calls)} calls{each}."
    return said


def _exchanged_names(evidence: Evidence) -> Finding | None:
    """If the right seconds are under each other's names."""
    mine, right = (_five(side, "growing") for side in (evidence.yours, evidence.right))
    for one, other in itertools.combinations(range(5), 2):
        order = list(range(5))
        order[one], order[other] = other, one
        if close(mine[order], right).all() and not close(mine, right).all():
            return Finding(
                "exchanged",
                f"You exchanged {_named((one, other))}.",
                f"Each has the seconds of the other. {_shown(evidence)}",
                COST,
            )
    return None


def _times_as_long(evidence: Evidence) -> Finding | None:
    """By which factors the seconds are wrong, of a text that fits or else of one that doesn't."""
    case = "cropped" if evidence.same("growing.seconds") else "growing"
    seconds = _of_case(evidence, case)
    mine, right = seconds
    if evidence.same(f"{case}.seconds") or not mine.min() < mine.max() < np.inf:
        return None
    off = seconds.off
    if off[0] and not off[1:].any():
        why = unwrapped("""Only the embedding's seconds depend on which symbols are read, so your
        text holds other symbols. Append the argmax of the logits at the last position.""")
    elif off[4] and not off[:4].any():
        why = _of_elsewhere(seconds)
    else:
        parts = " ".join(_of_parts(seconds, evidence.number("n_layer")))
        why = parts or _of_calls(evidence, case, seconds)
    wrong = [name for name, one in zip(PARTS, off, strict=True) if one]
    factors = [f"{number(one)} for {name}" for name, one in zip(PARTS, mine / right, strict=True)]
    long = " for a text that grows beyond `block_size`" if case == "cropped" else ""
    return Finding(
        "other-seconds",
        f"These of your five numbers{long} are wrong: {results_by_name(wrong)}."
        if len(wrong) > 1
        else f"Only {results_by_name(wrong)} is wrong among your five numbers{long}.",
        f"{why.strip()} Your seconds divided by the right ones are {', '.join(factors[:-1])}, and "
        f"{factors[-1]}. {_shown(evidence)}".strip(),
        COST,
    )


TASK = Task(
    "Where do the seconds go?",
    _variant(),
    COST,
    (
        Part(
            "The seconds of each part are right.",
            4,
            _seconds("growing"),
        ),
        Part(
            "It works beyond the context, too.",
            2,
            lambda e: e.same("growing", "cropped"),
        ),
    ),
    properties=(_exchanged_names, _times_as_long),
)
