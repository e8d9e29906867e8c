"""Judges 13/beam: the best text that a beam finds."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG005

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from course_judges.ch13_two_sequences.sections import BEAM
from course_judges.judging import Evidence, Mistake, Part, Task, any_of, matches, mistake
from course_judges.wording import listed, number, unwrapped
from course_tasks.ch13_two_sequences.beam import PROBE, model
from course_tasks.verdict import Finding


@dataclass(frozen=True)
class Beam:
    """An answer that makes one of its choices differently."""

    width: int | None = None
    accumulated: bool = True
    multiplied: bool = False
    logs: bool = True
    each: bool = False
    ends: bool = True
    finished_kept: bool = True
    first_finished: bool = False
    enough_finished: bool = False
    live_too: bool = True
    power: str = "at the end"
    start_kept: bool = False
    end_kept: bool = True
    start_counts: int = 0
    fewer: bool = False
    grows: bool = False
    refilled: bool = False
    all_ends: bool = False
    more: int = 0
    alone_too: bool = False
    choice: str = "largest"
    live_divided: bool = True
    wider: int = 0
    times_wider: int = 1
    smallest_kept: bool = False
    few_each: bool = False
    best_finished: bool = False
    columns: bool = False

    def __call__(self, log_probabilities, start, end, width, longest, power):
        """Tokens and their score."""
        width = (self.width or width) * self.times_wider + self.wider
        live: list[tuple[list[int], float]] = [([], 1.0 if self.multiplied else 0.0)]
        done: list[tuple[list[int], float]] = []
        for _ in range(longest + self.more):
            x = torch.tensor([[start, *tokens] for tokens, _ in live])
            table = log_probabilities(x)
            if not self.logs:
                table = table.exp()
            grown = []
            for (tokens, score), row in zip(live, table.tolist(), strict=True):
                own = [([*tokens, v], self._sum(score, gain)) for v, gain in enumerate(row)]
                if self.few_each:
                    own = sorted(own, key=lambda one: -one[1])[:2]
                one_alone = self.each and (tokens if self.alone_too else len(live) > 1)
                grown += [max(own, key=lambda one: one[1])] if one_alone else own
            if self.columns:  # a flat index is read as if tokens came first
                V = len(grown) // len(live)
                W = len(live)
                grown = [
                    ([*live[i % W][0], i // W % V], score) for i, (_, score) in enumerate(grown)
                ]
            grown.sort(key=lambda one: one[1] if self.smallest_kept else -one[1])
            kept = grown[: width + len(done) * (self.grows - self.fewer)]
            if self.ends:
                done += [one for one in (grown if self.all_ends else kept) if one[0][-1] == end]
                live = [one for one in (grown if self.refilled else kept) if one[0][-1] != end]
                live = live[:width] if self.refilled else live
            else:
                live = kept
            best = max((one[1] for one in live), default=0.0)
            enough = 1 if self.first_finished else width if self.enough_finished else math.inf
            stops = len(done) >= enough or (
                self.best_finished and any(one[1] >= best for one in done)
            )
            if not live or stops:
                break
        if not self.finished_kept:
            choice = live or done
        elif self.live_too:
            choice = done + live
        else:
            choice = done or live
        finished = [] if self.live_divided else done
        values = [
            one[1]
            if self.choice == "by the sum" or (one not in finished and not self.live_divided)
            else self._final(one, power)
            for one in choice
        ]
        best = (min if self.choice == "smallest" else max)(
            range(len(choice)), key=values.__getitem__
        )
        tokens, score = choice[best]
        score = self._final(choice[best], power) if self.choice == "by the sum" else values[best]
        if not self.end_kept and tokens[-1] == end:
            tokens = tokens[:-1]
        return [start, *tokens] if self.start_kept else tokens, score

    def _sum(self, score, gain):
        return score * gain if self.multiplied else score * self.accumulated + gain

    def _final(self, one, power):
        tokens, score = one
        if self.power == "root":
            return score ** (1 / len(tokens) ** power)
        if self.power == "of the logarithm":
            return math.log(score) / len(tokens) ** power
        if self.power == "none":
            return score
        if self.power == "all":
            return score / len(tokens)
        if self.power == "translation":
            return score / ((5 + len(tokens)) / 6) ** power
        if self.power == "penalty":
            return score - power * len(tokens)
        if self.power == "bonus":
            return score + power * len(tokens)
        if self.power == "times":
            return score * len(tokens) ** power
        return score / (len(tokens) + self.start_counts) ** power


beam_search = Beam()


def _mistake(
    what: str, effect: Callable[[Evidence], str], *, also: tuple[Any, ...] = ()
) -> Callable[[Any], Mistake]:
    """A mistake that is tried in the first wrong search before it runs through all of them."""

    def named(answer: Any) -> Mistake:
        return mistake(what, effect, also=also, recognized=lambda e: _is_made(e, (answer, *also)))(
            answer
        )

    return named


def _is_made(evidence: Evidence, variants: tuple[Any, ...]) -> bool:
    if evidence.answers.errors:
        return False
    case, k = _first_wrong(evidence)
    if not evidence.comparable(f"{case}.tokens{k}"):
        return False  # such a value may have any shape, and none of the variants makes it
    right, mine = (list(side(f"{case}.tokens{k}")) for side in (evidence.right, evidence.yours))
    score = float(evidence.yours(f"{case}.score{k}"))
    asked = _asked(evidence, case)
    start, end = evidence.number("start"), evidence.number("end")
    for variant in variants:
        tokens, value = variant(model(evidence.inputs, k), start, end, *asked)
        tokens = [*tokens[: len(right)], *[-1] * (len(right) - len(tokens))]
        alike = tokens == mine and abs(value - score) < 1e-4 * (1 + abs(score))
        if alike and any_of(PROBE, _CASES, variant)(evidence):
            return True
    return False


_CASES = ("greedy", "beam", "short", "length")


def _asked(evidence: Evidence, case: str) -> tuple[int, int, float]:
    """Width, `longest` and power of a case."""
    return (
        1 if case == "greedy" else evidence.number("width"),
        evidence.number("short" if case == "short" else "longest"),
        float(evidence.inputs["power"]) if case == "length" else 0.0,
    )


def _first_wrong(evidence: Evidence, *results: str) -> tuple[str, int]:
    """The case and the model of the first search with a wrong result, of any kind if none is named.

    Raises
    ------
    ValueError
        If there is none.
    """
    wrong = set(evidence.wrong_values)
    for case in _CASES:
        for k in range(len(evidence.inputs["tables"])):
            if any(f"{case}.{result}{k}" in wrong for result in results or ("tokens", "score")):
                return case, k
    raise ValueError("no search is wrong")


def _found(evidence: Evidence, *, stopped: bool = False) -> str:
    """The first wrong text or value; of a search that stopped early, also if its text goes on."""
    told = {
        "greedy": "With width 1",
        "beam": f"With width {evidence.number('width')}",
        "short": f"With longest = {evidence.number('short')}",
        "length": f"With power {number(float(evidence.inputs['power']))}",
    }
    case, k = _first_wrong(evidence)
    (mine, score), (right, best) = (
        [side(f"{case}.{result}{k}") for result in ("tokens", "score")]
        for side in (evidence.yours, evidence.right)
    )
    text, end, longest = mine[mine >= 0], evidence.number("end"), _asked(evidence, case)[1]
    unfinished = unwrapped(f""" Your value is larger, but your text has neither ended
    nor reached {longest} tokens, so it would still grow.""")
    grows = stopped and len(text) < longest and end not in text and score > best
    return unwrapped(f"""{told[case]} you found [{listed(text)}] with score
    {number(float(score))} instead of [{listed(right[right >= 0])}] with
    {number(float(best))}. The end symbol is {end}.{unfinished if grows else ""}""")


def _stopped(evidence: Evidence) -> str:
    return _found(evidence, stopped=True)


_greedy = _mistake(
    "Your beam finds no more than greedy decoding does, whatever `width` is.",
    lambda e: (
        unwrapped(f"""That is so if it holds a single text, or the same text several times: if it
    begins with `width` copies of `start`, every continuation comes `width` times. {_found(e)}""")
    ),
)(Beam(width=1))


def _last_one_returned(log_probabilities, start, end, width, longest, power):
    tokens, _ = beam_search(log_probabilities, start, end, width, longest, power)
    last = log_probabilities(torch.tensor([[start, *tokens[:-1]]]))[0, tokens[-1]]
    return tokens, last.item() / len(tokens) ** power


_not_accumulated = _mistake(
    "Your score is the log-probability of the last token instead of the sum from the start.",
    _found,
    also=(_last_one_returned,),
)(Beam(accumulated=False))


_sums_of_probabilities = _mistake(
    "You add probabilities, but probabilities multiply, and only their logarithms add up.",
    _found,
    also=(Beam(logs=False, power="of the logarithm"),),
)(Beam(logs=False))

_each_its_best = _mistake(
    "You continue each text with its own best token, but all continuations should compete.",
    lambda e: f"{_found(e)} Two of the best continuations may come from the same text.",
    also=(Beam(each=True, alone_too=True),),
)(Beam(each=True))

_end_ignored = _mistake(
    "You continue texts that have ended.",
    _found,
)(Beam(ends=False))

_finished_forgotten = _mistake(
    "You throw away texts that have ended as long as others are still growing.", _found
)(Beam(finished_kept=False))

_refilled = _mistake(
    "You refill the beam in the step in which texts end, but these are among its `width` best.",
    lambda e: (
        unwrapped(f"""If k of the `width` best continuations end, `width` − k texts are live in the
    next step, but in your search there are `width` again. So it tries more texts than it should,
    even if it then finds a better value. {_found(e)}""")
    ),
)(Beam(refilled=True))

_first_finished = _mistake(
    "You stop at the first text that ends, but a better one may still be growing.", _stopped
)(Beam(first_finished=True))

_enough_have_ended = _mistake(
    "You stop when `width` texts have ended, but one that still grows may get better than these.",
    _stopped,
)(Beam(enough_finished=True))

_best_has_ended = _mistake(
    "You stop when an ended text has a larger sum than all live ones.",
    lambda e: f"A longer text may still reach a larger sum / n ** power. {_stopped(e)}",
)(Beam(best_finished=True))

_beam_too_wide = _mistake(
    "You keep more continuations than `width` in each step.",
    _found,
    also=(Beam(times_wider=2),),
)(Beam(wider=1))

_beam_grows = _mistake(
    "For each text that has ended, you keep one continuation more than `width`.",
    lambda e: (
        unwrapped(f"""A text that has ended is set aside, and the `width` best continuations of the
    others are kept, no matter how many have ended. {_found(e)}""")
    ),
)(Beam(grows=True))

_smallest_kept = _mistake(
    "You keep the continuations with the smallest sums, but the best are those nearest to 0.",
    _found,
)(Beam(smallest_kept=True))

_two_of_each = _mistake(
    "You let only the two best continuations of each text compete, but all of them should.", _found
)(Beam(few_each=True))

_flat_index_misread = _mistake(
    "You mixed up text and token when you read an index among all W · V continuations.",
    lambda e: f"If rows hold V tokens, text = index // V and token = index % V. {_found(e)}",
)(Beam(columns=True))


_live_forgotten = _mistake(
    "Once a text has ended, you leave out those that reach `longest` without an end.", _found
)(Beam(live_too=False))

_length_ignored = _mistake("You ignore `power`, so long texts pay for every token.", _found)(
    Beam(power="none")
)

_mean = _mistake("You divided by n itself instead of n ** power.", _found)(Beam(power="all"))

_length_added = _mistake(
    "You add or subtract power times the length instead of dividing by n ** power.",
    _found,
    also=(Beam(power="bonus"),),
)(Beam(power="penalty"))

_length_plus_five = _mistake(
    "You divided by ((5 + n) / 6) ** power, as some papers do, instead of n ** power.",
    lambda e: _found(e),
)(Beam(power="translation"))

_multiplied_by_length = _mistake(
    "You multiplied by n ** power instead of dividing by it.",
    lambda e: (
        f"{_found(e)} Sums are negative, so this makes long texts pay twice for their length."
    ),
)(Beam(power="times"))


@_mistake(
    "You chose by sum / n ** power, but then returned the sum itself.",
    lambda e: f"Return the value that the texts were compared by. {_found(e)}",
)
def _sum_returned(log_probabilities, start, end, width, longest, power):
    tokens, value = beam_search(log_probabilities, start, end, width, longest, power)
    return tokens, value * len(tokens) ** power


_smallest_value = _mistake(
    "You chose the text with the smallest value, but the largest one wins.",
    lambda e: f"{_found(e)} Values are negative, so the largest is the one nearest to 0.",
)(Beam(choice="smallest"))

_chosen_by_the_sum = _mistake(
    "You chose by the sum alone, and divided only the winner's sum by n ** power.",
    lambda e: f"Divide first, so that texts of different lengths can be compared. {_found(e)}",
)(Beam(choice="by the sum"))

_live_not_divided = _mistake(
    "You divide sums of ended texts by n ** power, but not those of texts that are still live.",
    _found,
)(Beam(live_divided=False))

_start_in_length = _mistake(
    "You count the start symbol in n, but n is the number of tokens without it.", _found
)(Beam(start_counts=1))

_start_returned = _mistake("Your tokens begin with the start symbol.", _found)(
    Beam(start_kept=True)
)

_end_dropped = _mistake("You leave out the end symbol, but it is part of the text.", _found)(
    Beam(end_kept=False)
)


def _finished_compete(log_probabilities, start, end, width, longest, power):
    beam: list[tuple[list[int], float]] = [([], 0.0)]
    for _ in range(longest):
        live = [one for one in beam if not one[0] or one[0][-1] != end]
        if not live:
            break
        table = log_probabilities(torch.tensor([[start, *tokens] for tokens, _ in live])).tolist()
        grown = [one for one in beam if one not in live]
        for (tokens, score), row in zip(live, table, strict=True):
            grown += [([*tokens, v], score + gain) for v, gain in enumerate(row)]
        beam = sorted(grown, key=lambda one: -one[1])[:width]
    tokens, score = max(beam, key=lambda one: one[1] / len(one[0]) ** power)
    return tokens, score / len(tokens) ** power


_beam_shrinks = _mistake(
    "Texts that have ended keep their places in your beam, but each step keeps `width` new ones.",
    lambda e: f"An ended text is set aside, so it doesn't take a place in later steps. {_found(e)}",
    also=(_finished_compete,),
)(Beam(fewer=True))


_one_too_many = _mistake(
    "Your texts may have `longest` + 1 tokens, one more than allowed.", _found
)(Beam(more=1))

_one_too_few = _mistake(
    "Your texts have at most `longest` − 1 tokens, one fewer than allowed.", _found
)(Beam(more=-1))


_product_returned = _mistake(
    "Your value comes from a product of probabilities instead of a sum of log-probabilities.",
    lambda e: (
        unwrapped(f"""That sum is the logarithm of your product. Divide it by n ** power before you
    compare texts. {_found(e)}""")
    ),
    also=(Beam(multiplied=True, logs=False, power="root"),),
)(Beam(multiplied=True, logs=False))

_logarithms_multiplied = _mistake(
    "You multiply log-probabilities, but only probabilities multiply, and their logarithms add up.",
    lambda e: (
        unwrapped(f"""A product of negative numbers changes its sign with every token, so it can't
    tell a likely text from an unlikely one. {_found(e)}""")
    ),
    also=(Beam(multiplied=True, smallest_kept=True),),
)(Beam(multiplied=True))


@_mistake(
    "In each step you keep what is likely as the next token, whatever the text before it.",
    lambda e: (
        unwrapped(f"""Continuations should compete by the sum of their log-probabilities from the
    start, but yours compete by the last one alone. {_found(e)}""")
    ),
)
def _ranked_by_the_last(log_probabilities, start, end, width, longest, power):
    live: list[tuple[list[int], float]] = [([], 0.0)]
    done: list[tuple[list[int], float]] = []
    for _ in range(longest):
        table = log_probabilities(torch.tensor([[start, *tokens] for tokens, _ in live])).tolist()
        grown = [
            (gain, [*tokens, v], score + gain)
            for (tokens, score), row in zip(live, table, strict=True)
            for v, gain in enumerate(row)
        ]
        kept = [one[1:] for one in sorted(grown, key=lambda one: -one[0])[:width]]
        done += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live:
            break
    tokens, score = max(done + live, key=lambda one: one[1] / len(one[0]) ** power)
    return tokens, score / len(tokens) ** power


@dataclass(frozen=True)
class Search:
    """The search as the task says it, with one of its steps exchanged."""

    shown: Callable[..., Any] = lambda start, tokens: [start, *tokens]
    options: Callable[..., Any] = lambda tokens, row, end: enumerate(row)
    added: Callable[..., Any] = lambda total, gain, token, end, n, power: total + gain
    room: Callable[..., Any] = lambda width: width
    set_aside: Callable[..., Any] = lambda done, kept, grown: done + kept
    stops: Callable[..., Any] = lambda done, live, kept, end, power: False
    left: Callable[..., Any] = lambda done, live, every: done + live
    value: Callable[..., Any] = lambda tokens, total, end, longest, power: (
        total / len(tokens) ** power
    )
    choose: Callable[..., Any] = lambda values: max(values, key=lambda one: one[1])

    def __call__(self, log_probabilities, start, end, width, longest, power):
        """Tokens and their value."""
        live: list[tuple[list[int], float]] = [([], 0.0)]
        done: list[tuple[list[int], float]] = []
        every: list[tuple[list[int], float]] = []
        for _ in range(longest):
            rows = log_probabilities(torch.tensor([self.shown(start, t) for t, _ in live])).tolist()
            grown = [
                ([*tokens, v], self.added(total, gain, v, end, len(tokens) + 1, power))
                for (tokens, total), row in zip(live, rows, strict=True)
                for v, gain in self.options(tokens, row, end)
            ]
            kept = sorted(grown, key=lambda one: -one[1])[: self.room(width)]
            done = self.set_aside(done, *([o for o in g if o[0][-1] == end] for g in (kept, grown)))
            live = [one for one in kept if one[0][-1] != end]
            every += live
            if not live or self.stops(done, live, kept, end, power):
                break
        return self.choose(
            [
                (tokens, self.value(tokens, total, end, longest, power))
                for tokens, total in self.left(done, live, every)
            ]
        )


_best_value_has_ended = _mistake(
    "You stop as soon as an ended text has a better value than all live ones.",
    lambda e: f"A live text may still get better, since n ** power grows with it. {_stopped(e)}",
    also=(Search(stops=lambda done, live, kept, end, power: kept[0][0][-1] == end),),
)(
    Search(
        stops=lambda done, live, kept, end, power: (
            done
            and max(total / len(tokens) ** power for tokens, total in done)
            >= max(total / len(tokens) ** power for tokens, total in live)
        )
    )
)

_two_have_ended = _mistake(
    "You stop when two texts have ended, but one that still grows may get better than these.",
    _stopped,
)(Search(stops=lambda done, live, kept, end, power: len(done) >= 2))

_end_not_added = _mistake(
    "Your sums leave out the log-probability of the end.",
    lambda e: f"A text that ends early would cost nothing. {_found(e)}",
)(
    Search(
        added=lambda total, gain, token, end, n, power: total + (0.0 if token == end else gain),
    )
)

_first_not_added = _mistake("Your sums leave out the log-probability of the first token.", _found)(
    Search(added=lambda total, gain, token, end, n, power: total + gain if n > 1 else 0.0)
)

_end_not_in_n = _mistake(
    "You don't count the end in n, but it is one of the tokens.",
    _found,
    also=(
        Search(
            value=lambda tokens, total, end, longest, power: (
                total / (len(tokens) - (tokens[-1] == end and len(tokens) > 1)) ** power
            )
        ),
    ),
)(
    Search(
        value=lambda tokens, total, end, longest, power: (
            total / max(1, len(tokens) - (tokens[-1] == end)) ** power
        )
    )
)

_longest_for_n = _mistake(
    "You divide by `longest` ** power, but n is the number of tokens that a text has.",
    lambda e: f"With the same number for all texts, length makes no difference. {_found(e)}",
)(Search(value=lambda tokens, total, end, longest, power: total / longest**power))

_times_power = _mistake(
    "You multiply by `power` or divide by n · power, but it is an exponent: sum / n ** power.",
    _found,
    also=(
        Search(
            value=lambda tokens, total, end, longest, power: (
                total / (len(tokens) * power) if power else total
            )
        ),
    ),
)(Search(value=lambda tokens, total, end, longest, power: total / len(tokens) * power))

_sign_dropped = _mistake(
    "Your values are positive, but a sum of log-probabilities is negative.",
    lambda e: f"The largest value is the one nearest to 0. {_found(e)}",
    also=(
        Search(
            value=lambda tokens, total, end, longest, power: -total / len(tokens) ** power,
            choose=lambda values: min(values, key=lambda one: one[1]),
        ),
    ),
)(Search(value=lambda tokens, total, end, longest, power: -total / len(tokens) ** power))

_divided_in_each_step = _mistake(
    "You divide by n ** power in each step, so early tokens are divided again and again.",
    lambda e: f"Add up log-probabilities alone, and divide once, at the end. {_found(e)}",
)(
    Search(
        added=lambda total, gain, token, end, n, power: (total + gain) / n**power,
        value=lambda tokens, total, end, longest, power: total,
    )
)

_no_end_at_first = _mistake(
    "You don't let a text end at once, but its first token may be the end.", _found
)(
    Search(
        options=lambda tokens, row, end: [one for one in enumerate(row) if tokens or one[0] != end]
    )
)

_start_never_written = _mistake(
    "You never continue a text with `start`, but all tokens compete, that one, too.", _found
)(lambda *given: Search(options=_without(given[1]))(*given))


def _without(start):
    """All continuations but those with one token."""
    return lambda tokens, row, end: [one for one in enumerate(row) if one[0] != start]


_all_ends_set_aside = _mistake(
    "You set aside every text that ends, but only the `width` best continuations are kept.",
    lambda e: f"A text that ends is finished only if it is one of these. {_found(e)}",
    also=(Beam(refilled=True, all_ends=True),),
)(Search(set_aside=lambda done, kept, grown: done + grown))

_last_token_shown = _mistake(
    "You show the model only the last token of each text, but it needs the whole text.", _found
)(Search(shown=lambda start, tokens: [start, *tokens][-1:]))

_start_not_shown = _mistake(
    "You show the model texts without `start`, but each should begin with it.", _found
)(Search(shown=lambda start, tokens: tokens or [start]))

_beginnings_compete = _mistake(
    "You compare beginnings of texts, too, that have neither ended nor reached `longest` tokens.",
    lambda e: f"A beginning is always likelier than the text it becomes. {_found(e)}",
)(Search(left=lambda done, live, every: done + every))

_first_in_the_list = _mistake(
    "You return the first text of your list instead of the one with the largest value.",
    lambda e: f"With `max`, a `key` says what is compared. {_found(e)}",
    also=(Search(choose=lambda values: values[0], left=lambda done, live, every: live + done),),
)(Search(choose=lambda values: values[0]))

_last_in_the_list = _mistake(
    "You return the last text of your list instead of the one with the largest value.",
    lambda e: f"With `max`, a `key` says what is compared. {_found(e)}",
    also=(Search(choose=lambda values: values[-1], left=lambda done, live, every: live + done),),
)(Search(choose=lambda values: values[-1]))

_largest_tokens = _mistake(
    "You return the text whose tokens are the largest instead of the one with the largest value.",
    lambda e: (
        unwrapped(f"""`max` and `sort` compare pairs by what comes first in them, unless a `key`
    says what is compared. {_found(e)}""")
    ),
)(Search(choose=max))

_ended_overwritten = _mistake(
    "You keep only the texts that ended in the last step, but all that ended before compete, too.",
    lambda e: f"Add to the list in each step instead of making a new one. {_found(e)}",
)(Search(set_aside=lambda done, kept, grown: kept))

_best_sum_of_ended_kept = _mistake(
    "Of the texts that ended, you keep only the one with the largest sum.",
    lambda e: f"Another one may have a larger sum / n ** power. {_found(e)}",
)(Search(set_aside=lambda done, kept, grown: sorted(done + kept, key=lambda o: -o[1])[:1]))

_beam_too_narrow = _mistake("You keep fewer continuations than `width` in each step.", _found)(
    Search(room=lambda width: max(1, width - 1))
)


def _same_text_first(evidence: Evidence) -> bool:
    """Whether the tokens are right in the first search that is wrong."""
    case, k = _first_wrong(evidence)
    return f"{case}.tokens{k}" not in evidence.wrong_values


# All that is said of a text that no mistake explains has one name, since another draw may show
# something else.
_OTHERWISE = "another-text"


def _another_text(evidence: Evidence) -> Finding | None:
    """A wrong text, quoted without the padding of its row."""
    texts = [
        name for name in evidence.expected.values if ".tokens" in name and evidence.comparable(name)
    ]
    if all((evidence.yours(name) == evidence.right(name)).all() for name in texts):
        return _other_value(evidence)
    if evidence.same("greedy", "beam", "short") and (told := _another_length(evidence)):
        return Finding(
            _OTHERWISE,
            "Without a power your answer is right, but with one, a value isn't sum / n ** power.",
            told,
            BEAM,
        )
    if (told := _found(evidence)) and _same_text_first(evidence):
        return Finding(
            _OTHERWISE,
            "Your text is right there, but not its value.",
            f"{told} {_VALUE}",
            BEAM,
        )
    return _judged_text(evidence)


def _judged_text(evidence: Evidence) -> Finding | None:
    """What is wrong with the first wrong text: it isn't allowed, isn't found, or isn't best."""
    case, k = _first_wrong(evidence, "tokens")
    name = f"{case}.tokens{k}"
    mine, right = (
        [int(t) for t in side(name) if t >= 0] for side in (evidence.yours, evidence.right)
    )
    search = _Traced(evidence, case, k)
    told, end = _found(evidence), evidence.number("end")
    if len(mine) > search.longest:
        return Finding(
            _OTHERWISE,
            "Your text has more than `longest` tokens.",
            f"{told} If several texts share one list, `append` changes all of them, but "
            "`tokens + [token]` makes a new one.",
            BEAM,
        )
    if not mine:
        return Finding(_OTHERWISE, "Your text has no tokens.", told, BEAM)
    if end in mine[:-1]:
        return Finding(_OTHERWISE, "Your text goes on after the end symbol.", told, BEAM)
    if len(mine) < search.longest and mine[-1] != end:
        return Finding(
            _OTHERWISE,
            "Your text has neither ended nor reached `longest` tokens.",
            f"{told} Either your search stops too early, or it compares texts that still grow with "
            "finished ones.",
            BEAM,
        )
    step, rank, count = search.dropped(mine)
    if step:
        begins = f"[{listed(mine[:step])}]"
        if rank:
            place = f"{begins} is at place {rank} of {count} continuations, ordered by their sums"
        else:
            place = f"the beginning of {begins} has ended or isn't kept"
        return Finding(
            _OTHERWISE,
            "Your text isn't one of those that a beam of this width keeps.",
            f"In step {step}, {place}, but the best {search.width} are kept. {told}",
            BEAM,
        )
    one, other = (number(search.value(text), 4) for text in (mine, right))
    return Finding(
        _OTHERWISE,
        "Your beam finds your text, but it holds another one that has a larger value.",
        f"[{listed(mine)}] has the value {one}, and [{listed(right)}] has {other}. Either you "
        "compare texts by something else than sum / n ** power, or the better text gets lost: "
        "because a step keeps too few continuations, because it isn't among the texts that you "
        f"compare at the end, or because your search stops before it is complete. {told}",
        BEAM,
    )


class _Traced:
    """A right search by one of the models, with the continuations of each step."""

    def __init__(self, evidence: Evidence, case: str, k: int) -> None:
        self._start, self._end = evidence.number("start"), evidence.number("end")
        self.width, self.longest, self._power = _asked(evidence, case)
        self._log_probabilities = model(evidence.inputs, k)

    def value(self, tokens: list[int]) -> float:
        """sum / n ** power of any text."""
        rows = [
            self._log_probabilities(torch.tensor([[self._start, *tokens[:n]]]))[0, token]
            for n, token in enumerate(tokens)
        ]
        return float(sum(rows)) / len(tokens) ** self._power

    def dropped(self, text: list[int]) -> tuple[int, int, int]:
        """In which step the beginning of a text isn't kept, and its place among how many
        continuations; the place is 0 if it is none of them, and the step if it is kept to its end.
        """
        live: list[tuple[list[int], float]] = [([], 0.0)]
        for n in range(1, len(text) + 1):
            x = torch.tensor([[self._start, *tokens] for tokens, _ in live])
            grown = [
                ([*tokens, v], total + gain)
                for (tokens, total), row in zip(
                    live, self._log_probabilities(x).tolist(), strict=True
                )
                for v, gain in enumerate(row)
            ]
            grown.sort(key=lambda one: -one[1])
            place = next((i for i, one in enumerate(grown) if one[0] == text[:n]), -1)
            if place < 0 or place >= self.width:
                return n, place + 1, len(grown)
            live = [one for one in grown[: self.width] if one[0][-1] != self._end]
        return 0, 0, 0


def _other_value(evidence: Evidence) -> Finding | None:
    """If all texts are right but some values aren't: what these are, if known."""
    told = _found(evidence)
    power = float(evidence.inputs["power"])
    if evidence.same("length"):
        return None
    lengths = ((evidence.right(f"length.tokens{k}") >= 0).sum() for k in _tables(evidence))
    sums = [
        float(evidence.right(f"length.score{k}")) * n**power
        for k, n in zip(_tables(evidence), lengths, strict=True)
    ]
    mine = [float(evidence.yours(f"length.score{k}")) for k in _tables(evidence)]
    right = [float(evidence.right(f"length.score{k}")) for k in _tables(evidence)]
    factors = np.divide(mine, right)
    if np.ptp(factors) < 1e-4 and evidence.same("greedy", "beam", "short"):
        longest = evidence.number("longest") ** power
        which = ", which is `longest` ** power" if abs(factors[0] - longest) < 1e-3 else ""
        return Finding(
            _OTHERWISE,
            "Your texts are right, but with a power, all values are off by the same factor.",
            f"The factor is {number(float(factors[0]))}{which}. {told} {_VALUE}",
            BEAM,
        )
    if np.ptp(mine) < 1e-4 or np.ptp(factors) < 1e-4:
        return None  # saying that all are one number or off by one factor tells more
    why = next(
        (
            f" Your values are {said}."
            for said, made in _VALUES
            if np.allclose(mine, [made(one) for one in sums], rtol=1e-3)
        ),
        "",
    )
    return Finding(
        _OTHERWISE,
        "Your texts are right, but their values aren't.",
        f"{told}{why} {_VALUE}",
        BEAM,
    )


def _tables(evidence: Evidence) -> range:
    return range(len(evidence.inputs["tables"]))


_VALUE = unwrapped("""The value of a text is the sum of its log-probabilities, divided by n **
power, and with power 0 that is the sum itself.""")
_VALUES = (
    ("e to the sum, a probability", math.exp),
    ("the sum without its sign", abs),
)


def _another_length(evidence: Evidence) -> str:
    """A text that is right, and the length that its wrong score would need; empty if none."""
    power = float(evidence.inputs["power"])
    for k in range(len(evidence.inputs["tables"])):
        names = f"length.tokens{k}", f"length.score{k}"
        if not all(map(evidence.comparable, names)):
            continue
        (mine, score), (right, best) = (
            [side(name) for name in names] for side in (evidence.yours, evidence.right)
        )
        if (mine == right).all() and abs(float(score) - float(best)) > 1e-4:
            text = right[right >= 0]
            length = len(text) * (float(best) / float(score)) ** (1 / power)
            return unwrapped(f"""With power {number(power)}, [{listed(text)}] has {len(text)} tokens
            and the value {number(float(best))}, but yours is {number(float(score))}, as if it had
            {number(length)} tokens.""")
    return ""


TASK = Task(
    "A beam that knows about length",
    beam_search,
    BEAM,
    (
        Part("With width 1, it is greedy decoding.", 1, matches("greedy")),
        Part(
            "A wider beam finds the right texts.",
            3,
            matches("beam", "short"),
        ),
        Part("Length is taken into account at the end.", 2, matches("length")),
    ),
    properties=(_another_text,),
)
