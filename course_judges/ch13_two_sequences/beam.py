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
            if self.columns:  # a flat index is read as if tokens came first
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


def _found(evidence: Evidence, *, stopped: bool = False) -> str:
    """The first wrong text or value; of a search that stopped early, also if its text goes on."""
    for case, told in (
        ("greedy", "With width 1"),
        ("beam", f"With width {evidence.number('width')}"),
        ("short", f"With longest = {evidence.number('short')}"),
        ("length", f"With power {number(float(evidence.inputs['power']))}"),
    ):
        longest = evidence.number("short" if case == "short" else "longest")
        for k in range(len(evidence.inputs["tables"])):
            names = f"{case}.tokens{k}", f"{case}.score{k}"
            if not all(map(evidence.comparable, names)):
                continue
            (mine, score), (right, best) = (
                [side(name) for name in names] for side in (evidence.yours, evidence.right)
            )
            if (mine != right).any() or abs(float(score) - float(best)) > 1e-4:
                text, end = mine[mine >= 0], evidence.number("end")
                unfinished = unwrapped(f""" Your value is larger, but your text has neither ended
                nor reached {longest} tokens, so it would still grow.""")
                grows = stopped and len(text) < longest and end not in text and score > best
                return unwrapped(f"""{told} you found [{listed(text)}] with score
                {number(float(score))}, but expected was [{listed(right[right >= 0])}] with
                {number(float(best))}. The end symbol is {end}.{unfinished if grows else ""}""")
    return ""


def _stopped(evidence: Evidence) -> str:
    return _found(evidence, stopped=True)


_greedy = mistake("Your beam always holds a single text, whatever `width` is.", _found)(
    Beam(width=1)
)


def _last_one_returned(log_probabilities, start, end, width, longest, power):
    tokens, _ = beam_search(log_probabilities, start, end, width, longest, power)
    last = log_probabilities(torch.tensor([[start, *tokens[:-1]]]))[0, tokens[-1]]
    return tokens, last.item() / len(tokens) ** power


_not_accumulated = mistake(
    "Your score is the log-probability of the last token instead of the sum from the start.",
    _found,
    also=(_last_one_returned,),
)(Beam(accumulated=False))


_sums_of_probabilities = mistake(
    "You add probabilities, but probabilities multiply, and only their logarithms add up.",
    _found,
    also=(Beam(logs=False, power="of the logarithm"),),
)(Beam(logs=False))

_each_its_best = mistake(
    "You continue each text with its own best token, but all continuations should compete.",
    lambda e: f"{_found(e)} Two of the best continuations may come from the same text.",
    also=(Beam(each=True, alone_too=True),),
)(Beam(each=True))

_end_ignored = mistake(
    "You continue texts that have ended.",
    _found,
)(Beam(ends=False))

_finished_forgotten = mistake(
    "You throw away texts that have ended as long as others are still growing.", _found
)(Beam(finished_kept=False))

_refilled = mistake(
    "You refill the beam in the step in which texts end, but these are among its `width` best.",
    lambda e: (
        unwrapped(f"""If k of the `width` best continuations end, `width` − k texts are live in the
    next step, but in your search there are `width` again. So it tries more texts than it should,
    even if it then finds a better value. {_found(e)}""")
    ),
)(Beam(refilled=True))

_first_finished = mistake(
    "You stop at the first text that ends, but a better one may still be growing.", _stopped
)(Beam(first_finished=True))

_enough_have_ended = mistake(
    "You stop when `width` texts have ended, but one that still grows may get better than these.",
    _stopped,
)(Beam(enough_finished=True))

_best_has_ended = mistake(
    "You stop when an ended text has a larger sum than all live ones.",
    lambda e: f"A longer text may still reach a larger sum / n ** power. {_stopped(e)}",
)(Beam(best_finished=True))

_beam_too_wide = mistake(
    "You keep more continuations than `width` in each step.",
    _found,
    also=(Beam(times_wider=2),),
)(Beam(wider=1))

_smallest_kept = mistake(
    "You keep the continuations with the smallest sums, but the best are those nearest to 0.",
    _found,
)(Beam(smallest_kept=True))

_two_of_each = mistake(
    "You let only the two best continuations of each text compete, but all of them should.", _found
)(Beam(few_each=True))

_flat_index_misread = mistake(
    "You mixed up text and token when you read an index among all W · V continuations.",
    lambda e: f"If rows hold V tokens, text = index // V and token = index % V. {_found(e)}",
)(Beam(columns=True))


_live_forgotten = mistake(
    "Once a text has ended, you leave out those that reach `longest` without an end.", _found
)(Beam(live_too=False))

_length_ignored = mistake("You ignore `power`, so long texts pay for every token.", _found)(
    Beam(power="none")
)

_mean = mistake("You divided by n itself instead of n ** power.", _found)(Beam(power="all"))

_length_added = mistake(
    "You add or subtract power times the length instead of dividing by n ** power.",
    _found,
    also=(Beam(power="bonus"),),
)(Beam(power="penalty"))

_length_plus_five = mistake(
    "You divided by ((5 + n) / 6) ** power, as some papers do, instead of n ** power.",
    lambda e: _found(e),
)(Beam(power="translation"))

_multiplied_by_length = mistake(
    "You multiplied by n ** power instead of dividing by it.",
    lambda e: (
        f"{_found(e)} Sums are negative, so this makes long texts pay twice for their length."
    ),
)(Beam(power="times"))


@mistake(
    "You chose by sum / n ** power, but then returned the sum itself.",
    lambda e: f"Return the value that the texts were compared by. {_found(e)}",
)
def _sum_returned(log_probabilities, start, end, width, longest, power):
    tokens, value = beam_search(log_probabilities, start, end, width, longest, power)
    return tokens, value * len(tokens) ** power


_smallest_value = mistake(
    "You chose the text with the smallest value, but the largest one wins.",
    lambda e: f"{_found(e)} Values are negative, so the largest is the one nearest to 0.",
)(Beam(choice="smallest"))

_chosen_by_the_sum = mistake(
    "You chose by the sum alone, and divided only the winner's sum by n ** power.",
    lambda e: f"Divide first, so that texts of different lengths can be compared. {_found(e)}",
)(Beam(choice="by the sum"))

_live_not_divided = mistake(
    "You divide sums of ended texts by n ** power, but not those of texts that are still live.",
    _found,
)(Beam(live_divided=False))

_start_in_length = mistake(
    "You count the start symbol in n, but n is the number of tokens without it.", _found
)(Beam(start_counts=1))

_start_returned = mistake("Your tokens begin with the start symbol.", _found)(Beam(start_kept=True))

_end_dropped = mistake("You leave out the end symbol, but it is part of the text.", _found)(
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
    "Texts that have ended keep their places in your beam, but each step keeps `width` new ones.",
    lambda e: f"An ended text is set aside, so it doesn't take a place in later steps. {_found(e)}",
    also=(_finished_compete,),
)(Beam(fewer=True))


_one_too_many = mistake("Your texts may have `longest` + 1 tokens, one more than allowed.", _found)(
    Beam(more=1)
)

_one_too_few = mistake(
    "Your texts have at most `longest` − 1 tokens, one fewer than allowed.", _found
)(Beam(more=-1))


_product_returned = mistake(
    "Your value comes from a product of probabilities instead of a sum of log-probabilities.",
    lambda e: (
        unwrapped(f"""That sum is the logarithm of your product. Divide it by n ** power before you
    compare texts. {_found(e)}""")
    ),
    also=(Beam(multiplied=True, logs=False, power="root"),),
)(Beam(multiplied=True, logs=False))

_logarithms_multiplied = mistake(
    "You multiply log-probabilities, but only probabilities multiply, and their logarithms add up.",
    lambda e: (
        unwrapped(f"""A product of negative numbers changes its sign with every token, so it can't
    tell a likely text from an unlikely one. {_found(e)}""")
    ),
    also=(Beam(multiplied=True, smallest_kept=True),),
)(Beam(multiplied=True))


@mistake(
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


def _same_text_first(evidence: Evidence) -> bool:
    """Whether the tokens are right in the first search that is wrong."""
    for case in ("greedy", "beam", "short", "length"):
        for k in range(len(evidence.inputs["tables"])):
            tokens = evidence.same(f"{case}.tokens{k}")
            if not tokens or not evidence.same(f"{case}.score{k}"):
                return tokens
    return False


def _another_text(evidence: Evidence) -> Finding | None:
    """A wrong text, quoted without the padding of its row."""
    texts = [
        name for name in evidence.expected.values if ".tokens" in name and evidence.comparable(name)
    ]
    if all((evidence.yours(name) == evidence.right(name)).all() for name in texts):
        return _other_value(evidence)
    if evidence.same("greedy", "beam", "short") and (told := _another_length(evidence)):
        return Finding(
            "another-length",
            "Your search is right, but the value of a text isn't sum / n ** power.",
            told,
            BEAM,
        )
    if (told := _found(evidence)) and _same_text_first(evidence):
        return Finding(
            "another-value",
            "Your text is right there, but not its value.",
            f"{told} {_VALUE}",
            BEAM,
        )
    if evidence.same("greedy", "beam", "short"):
        return Finding(
            "another-choice",
            "Your search is right, but with a power, another text wins than by sum / n ** power.",
            told,
            BEAM,
        )
    return Finding("another-text", "Your beam search ends with a wrong text.", told, BEAM)


def _other_value(evidence: Evidence) -> Finding | None:
    """If all texts are right but some values aren't: what these are, if known."""
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
        "another-value",
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
            {number(length)} tokens. The end symbol, {evidence.number("end")}, counts as a
            token.""")
    return ""


TASK = Task(
    "A beam that knows about length",
    beam_search,
    BEAM,
    (
        Part("With width 1, it is greedy decoding.", 1, matches("greedy")),
        Part(
            "A wider beam finds the right texts, whatever `longest` is.",
            3,
            matches("beam", "short"),
        ),
        Part("Length is taken into account at the end.", 2, matches("length")),
    ),
    properties=(_another_text,),
)
