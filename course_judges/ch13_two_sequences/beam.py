"""Judges 13/beam: the best text that a beam finds."""

# mypy: allow-untyped-defs

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from course_judges.ch13_two_sequences.sections import BEAM
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, unwrapped
from course_tasks.verdict import Finding


@dataclass(frozen=True)
class Beam:
    """An answer with one of its choices replaced."""

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
    refilled: bool = False
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
            if self.columns:  # a place among all of them is read as if tokens came first
                V = len(grown) // len(live)
                W = len(live)
                grown = [
                    ([*live[i % W][0], i // W % V], score) for i, (_, score) in enumerate(grown)
                ]
            grown.sort(key=lambda one: one[1] if self.smallest_kept else -one[1])
            kept = grown[: width - (len(done) if self.fewer else 0)]
            if self.ends:
                done += [one for one in kept if one[0][-1] == end]
                live = [one for one in (grown if self.refilled else kept) if one[0][-1] != end][
                    :width
                ]
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


def _found(evidence: Evidence) -> str:
    for case, told in (
        ("greedy", "With width 1"),
        ("beam", f"With width {evidence.number('width')}"),
        ("short", f"With longest = {evidence.number('short')}"),
        ("length", f"With power {number(float(evidence.inputs['power']))}"),
    ):
        for k in range(len(evidence.inputs["tables"])):
            names = f"{case}.tokens{k}", f"{case}.score{k}"
            if not all(map(evidence.comparable, names)):
                continue
            (mine, score), (right, best) = (
                [side(name) for name in names] for side in (evidence.yours, evidence.right)
            )
            if (mine != right).any() or abs(float(score) - float(best)) > 1e-4:
                return unwrapped(f"""{told} you found [{listed(mine[mine >= 0])}] with score
                {number(float(score))}; expected [{listed(right[right >= 0])}] with
                {number(float(best))}. The end symbol is {evidence.number("end")}.""")
    return ""


_greedy = mistake("Whatever the width, your beam holds one beginning.", _found)(Beam(width=1))


def _last_one_returned(log_probabilities, start, end, width, longest, power):
    tokens, _ = beam_search(log_probabilities, start, end, width, longest, power)
    last = log_probabilities(torch.tensor([[start, *tokens[:-1]]]))[0, tokens[-1]]
    return tokens, last.item() / len(tokens) ** power


_not_accumulated = mistake(
    "Your score is the log-probability of the last token; it should be the sum from the start.",
    _found,
    also=(_last_one_returned,),
)(Beam(accumulated=False))


_sums_of_probabilities = mistake(
    "You add probabilities; they multiply, so it is their logarithms that add up.",
    _found,
    also=(Beam(logs=False, power="of the logarithm"),),
)(Beam(logs=False))

_each_its_best = mistake(
    "Every beginning goes on with its own best token; all continuations should compete.",
    lambda e: f"{_found(e)} Two of the best may come from one beginning.",
    also=(Beam(each=True, alone_too=True),),
)(Beam(each=True))

_end_ignored = mistake(
    "A text that has ended is continued.",
    _found,
)(Beam(ends=False))

_finished_forgotten = mistake(
    "Texts that have ended are thrown away as long as others are still growing.", _found
)(Beam(finished_kept=False))

_refilled = mistake(
    "You fill the beam up again where texts have ended; finished texts take places among the best.",
    lambda e: unwrapped(f"""Where k of the `width` best continuations end, `width` − k texts are
    live in the next step; in yours there are `width` again. That is a search of more texts than
    asked for: even where it finds a better value, it is another beam's. {_found(e)}"""),
)(Beam(refilled=True))

_first_finished = mistake(
    "You stop at the first text that ends; a better one may still be growing.", _found
)(Beam(first_finished=True))

_enough_have_ended = mistake(
    "You stop when `width` texts have ended; a text that still grows may become a better one.",
    _found,
)(Beam(enough_finished=True))

_best_has_ended = mistake(
    "You stop when an ended text has a larger sum than all live ones; go on, as a longer one may "
    "still have the larger sum / n ** power.",
    _found,
)(Beam(best_finished=True))

_beam_too_wide = mistake(
    "You keep more continuations than `width` in each step.",
    _found,
    also=(Beam(times_wider=2),),
)(Beam(wider=1))

_smallest_kept = mistake(
    "You keep the continuations with the smallest sums; log-probabilities are best near 0.", _found
)(Beam(smallest_kept=True))

_two_of_each = mistake(
    "Of each text only its two best continuations compete; all of them should.", _found
)(Beam(few_each=True))

_flat_index_misread = mistake(
    "A place among all W · V continuations is read the wrong way: text and token are exchanged.",
    lambda e: f"With rows of V tokens, text = place // V and token = place % V. {_found(e)}",
)(Beam(columns=True))


_live_forgotten = mistake(
    "As soon as one text has ended, those that reach `longest` without an end are left out.", _found
)(Beam(live_too=False))

_length_ignored = mistake("`power` has no effect: long texts pay for every token.", _found)(
    Beam(power="none")
)

_mean = mistake("You divided by the length itself, whatever `power` is.", _found)(Beam(power="all"))

_length_added = mistake(
    "You add power times the length to the sum, or take it away; the sum is divided by n ** power.",
    _found,
    also=(Beam(power="bonus"),),
)(Beam(power="penalty"))

_length_plus_five = mistake(
    "You divided by ((5 + n) / 6) ** power, as some papers do; here it is n ** power.",
    lambda e: f"{_found(e)} The 5 makes short texts cheaper than n alone does.",
)(Beam(power="translation"))

_multiplied_by_length = mistake(
    "You multiplied by length ** power; the score is divided by it.",
    lambda e: f"{_found(e)} Scores are negative, so this makes long texts pay twice.",
)(Beam(power="times"))


@mistake(
    "You chose by sum / n ** power, and then returned the sum itself.",
    lambda e: f"The value belongs to the text as it was compared. {_found(e)}",
)
def _sum_returned(log_probabilities, start, end, width, longest, power):
    tokens, value = beam_search(log_probabilities, start, end, width, longest, power)
    return tokens, value * len(tokens) ** power


_smallest_value = mistake(
    "You chose the text with the smallest value; the largest one wins.",
    lambda e: f"{_found(e)} Values are negative: the largest is the one nearest to 0.",
)(Beam(choice="smallest"))

_chosen_by_the_sum = mistake(
    "You chose by the sum alone, and divided that of the winner afterwards.",
    lambda e: f"Texts of different lengths are compared by sum / n ** power. {_found(e)}",
)(Beam(choice="by the sum"))

_live_not_divided = mistake(
    "Texts that end are divided by n ** power, those that are still live at the end are not.",
    _found,
)(Beam(live_divided=False))

_start_in_length = mistake("The start symbol counts in your lengths.", _found)(Beam(start_counts=1))

_start_returned = mistake("Your tokens begin with the start symbol.", _found)(Beam(start_kept=True))

_end_dropped = mistake("You leave out the end symbol; it is part of the text.", _found)(
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


_beam_shrinks = mistake(
    "Texts that have ended take places of your beam; each step keeps `width` continuations.",
    lambda e: f"An ended text is set aside for good, and needs no place. {_found(e)}",
    also=(_finished_compete,),
)(Beam(fewer=True))


_one_too_many = mistake("Your texts may have one token more than `longest`.", _found)(Beam(more=1))

_one_too_few = mistake("Your texts have one token less than `longest` allows.", _found)(
    Beam(more=-1)
)


_product_returned = mistake(
    "Your value is made of a product of probabilities; asked for is a sum of log-probabilities.",
    lambda e: unwrapped(f"""The logarithm of the product is that sum, and it is the sum that is
    divided by n ** power, before texts are compared. {_found(e)}"""),
    also=(Beam(multiplied=True, logs=False, power="root"),),
)(Beam(multiplied=True, logs=False))

_logarithms_multiplied = mistake(
    "You multiply log-probabilities; probabilities multiply, their logarithms add up.",
    lambda e: unwrapped(f"""A product of negative numbers changes its sign with every token, so it
    cannot tell a likely text from another. {_found(e)}"""),
    also=(Beam(multiplied=True, smallest_kept=True),),
)(Beam(multiplied=True))


@mistake(
    "In each step you keep what is likely as the next token, and forget how likely the text before "
    "it was.",
    lambda e: unwrapped(f"""Continuations compete by the sum of their log-probabilities from the
    start; yours compete by the last one alone. {_found(e)}"""),
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


def _same_text_first(evidence: Evidence) -> bool:
    """In the first search that is wrong, the tokens are right."""
    for case in ("greedy", "beam", "short", "length"):
        for k in range(len(evidence.inputs["tables"])):
            tokens = evidence.same(f"{case}.tokens{k}")
            if not tokens or not evidence.same(f"{case}.score{k}"):
                return tokens
    return False


def _another_text(evidence: Evidence) -> Finding | None:
    """Another text, told without the numbers that fill its row up."""
    texts = [
        name for name in evidence.expected.values if ".tokens" in name and evidence.comparable(name)
    ]
    if all((evidence.yours(name) == evidence.right(name)).all() for name in texts):
        return _other_value(evidence)
    if evidence.same("greedy", "beam", "short") and (told := _another_length(evidence)):
        return Finding(
            "another-length",
            "Your search is right; the value of a text is not sum / n ** power.",
            told,
            BEAM,
        )
    if (told := _found(evidence)) and _same_text_first(evidence):
        return Finding(
            "another-value",
            "There your text is right, and its value is not.",
            f"{told} The value is the sum of its log-probabilities, divided by n ** power; with "
            "power 0 that is the sum itself.",
            BEAM,
        )
    if evidence.same("greedy", "beam", "short"):
        return Finding(
            "another-choice",
            "Your search is right; with a power, another text wins than by sum / n ** power.",
            told,
            BEAM,
        )
    return Finding("another-text", "Your beam ends with another text.", told, BEAM)


def _other_value(evidence: Evidence) -> Finding | None:
    """All texts are right, and all that is wrong are values."""
    told = _found(evidence)
    power = float(evidence.inputs["power"])
    if not told or evidence.same("length"):
        return None
    lengths = ((evidence.right(f"length.tokens{k}") >= 0).sum() for k in _tables(evidence))
    sums = [
        float(evidence.right(f"length.score{k}")) * n**power
        for k, n in zip(_tables(evidence), lengths, strict=True)
    ]
    mine = [float(evidence.yours(f"length.score{k}")) for k in _tables(evidence)]
    right = [float(evidence.right(f"length.score{k}")) for k in _tables(evidence)]
    if np.ptp(mine) < 1e-4 or np.ptp(np.divide(mine, right)) < 1e-4:
        return None  # one number, or one factor for all, says more
    why = next(
        (
            f" Your values are {said}."
            for said, made in _VALUES
            if np.allclose(mine, [made(one) for one in sums], rtol=1e-3)
        ),
        "",
    )
    return Finding(
        "another-value",
        "Your texts are right, and their values are not.",
        f"{told}{why} The value is the sum of its log-probabilities, divided by n ** power; with "
        "power 0 that is the sum itself.",
        BEAM,
    )


def _tables(evidence: Evidence) -> range:
    return range(len(evidence.inputs["tables"]))


_VALUES = (
    ("e to the sum, a probability", math.exp),
    ("the sum without its sign", abs),
)


def _another_length(evidence: Evidence) -> str:
    """A text that was rightly found, and the length that its score would belong to."""
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
            and the value {number(float(best))}; yours is {number(float(score))}, as if it had
            {number(length)}. The end symbol is {evidence.number("end")}, and it is a token.""")
    return ""


TASK = Task(
    "A beam that knows about length",
    beam_search,
    BEAM,
    (
        Part("With width 1, it is greedy decoding.", 1, matches("greedy")),
        Part("A wider beam finds the right texts, at every longest.", 3, matches("beam", "short")),
        Part("Length is taken into account at the end.", 2, matches("length")),
    ),
    properties=(_another_text,),
)
