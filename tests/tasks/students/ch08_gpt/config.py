"""Students' answers to 08/config."""

import dataclasses
from collections import namedtuple

from course_lib.errors import ConfigError

SIZES = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd")


class PlainConfig:
    def __init__(self, vocab_size, block_size, n_layer, n_head, n_embd, dropout=0.0):
        wrong = []
        for name, size in zip(
            SIZES, (vocab_size, block_size, n_layer, n_head, n_embd), strict=True
        ):
            if size <= 0:
                wrong.append(f"{name} is {size}, but has to be positive")
        if n_embd > 0 and n_head > 0 and n_embd % n_head:
            wrong.append(f"n_embd {n_embd} is no multiple of n_head {n_head}")
        if dropout < 0 or dropout >= 1:
            wrong.append(f"dropout is {dropout}, outside [0, 1)")
        if wrong:
            raise ValueError("\n".join(wrong))
        self.vocab_size, self.block_size, self.n_layer = vocab_size, block_size, n_layer
        self.n_head, self.n_embd, self.dropout = n_head, n_embd, dropout
        self.head_size = n_embd / n_head


class TupleConfig(namedtuple("Sizes", [*SIZES, "dropout"], defaults=[0.0])):
    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls, *args, **kwargs)
        faults = {n: v for n, v in self._asdict().items() if n in SIZES and v < 1}
        if (
            not faults.keys() & {"n_embd", "n_head"}
            and self.n_embd // self.n_head * self.n_head != self.n_embd
        ):
            faults |= {"n_embd": self.n_embd, "n_head": self.n_head}
        if not (self.dropout >= 0 and self.dropout < 1):
            faults["dropout"] = self.dropout
        if faults:
            raise ValueError(f"cannot be: {faults}")
        return self

    @property
    def head_size(self):
        return self.n_embd // self.n_head


def with_check(check, error=ValueError, joined="; ".join):
    """A dataclass whose __post_init__ raises what `check` complains of."""

    @dataclasses.dataclass
    class Sizes:
        vocab_size: int
        block_size: int
        n_layer: int
        n_head: int
        n_embd: int
        dropout: float = 0.0

        def __post_init__(self):
            complaints = check(self)
            if complaints:
                raise error(joined(complaints))
            self.head_size = int(self.n_embd / self.n_head)

    return Sizes


def sizes_wrong(c, bad=lambda v: v < 1):
    return [f"{n} = {getattr(c, n)}" for n in SIZES if bad(getattr(c, n))]


def heads_wrong(c):
    if min(c.n_embd, c.n_head) < 1 or c.n_embd % c.n_head == 0:
        return []
    return [f"{c.n_embd=} and {c.n_head=} do not go together".replace("c.", "")]


def divisible_refused(c):
    if min(c.n_embd, c.n_head) < 1 or c.n_embd % c.n_head:
        return []
    return [f"{c.n_embd=} and {c.n_head=} do not go together".replace("c.", "")]


def dropout_wrong(c, ok=lambda p: 0 <= p < 1):
    return [] if ok(c.dropout) else [f"dropout: {c.dropout}"]


def everything_wrong(c):
    return sizes_wrong(c) + heads_wrong(c) + dropout_wrong(c)


def modulo_first(c):
    heads = ["n_embd, n_head"] if c.n_embd % c.n_head != 0 else []
    return heads + sizes_wrong(c) + dropout_wrong(c)


def swapped_modulo(c):
    swapped = c.n_embd != 0 and c.n_head % c.n_embd > 0
    heads = [f"n_head {c.n_head} modulo n_embd {c.n_embd}"] if swapped and c.n_head > 0 else []
    return heads + sizes_wrong(c) + dropout_wrong(c)


def one_of_two_that_fit(c):
    """`elif` where `if` was needed: a wrong n_head hides a wrong n_embd."""
    if c.n_head < 1:
        two = [f"n_head = {c.n_head}"]
    elif c.n_embd < 1:
        two = [f"n_embd = {c.n_embd}"]
    else:
        two = heads_wrong(c)
    others = [w for w in sizes_wrong(c) if w.split()[0] not in ("n_head", "n_embd")]
    return others + two + dropout_wrong(c)


def one_name_for_a_value(c):
    by_value = {}
    for name in SIZES:
        if getattr(c, name) < 1:
            by_value.setdefault(getattr(c, name), name)
    sizes = [f"{name} = {value}" for value, name in by_value.items()]
    return sizes + heads_wrong(c) + dropout_wrong(c)


def in_few_digits(c):
    told = [] if 0 <= c.dropout < 1 else [f"dropout = {c.dropout:.2f} is not within 0 and 1"]
    return told + sizes_wrong(c) + heads_wrong(c)


@dataclasses.dataclass
class OtherOrder:
    block_size: int
    vocab_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        if everything_wrong(self):
            raise ValueError("; ".join(everything_wrong(self)))
        self.head_size = self.n_embd // self.n_head


def head_blames_both(c):
    """Names n_embd wherever n_head is wrong, as if they did not fit each other."""
    blamed = [f"n_embd = {c.n_embd}"] if c.n_head < 1 <= c.n_embd else []
    return everything_wrong(c) + blamed


class FlooredDropout(PlainConfig):
    def __init__(self, *sizes, **named):
        super().__init__(*sizes, **named)
        self.dropout = int(10 * self.dropout) / 10


class DropsAFifth(PlainConfig):
    def __init__(self, vocab_size, block_size, n_layer, n_head, n_embd, dropout=0.2):
        super().__init__(vocab_size, block_size, n_layer, n_head, n_embd, dropout)


RIGHT = {
    "plain class": PlainConfig,
    "named tuple": TupleConfig,
    "dataclass": with_check(everything_wrong),
    "in few digits": with_check(in_few_digits),
    "the library's error": with_check(everything_wrong, error=ConfigError),
}


WRONG = {
    "ones-refused": with_check(
        lambda c: sizes_wrong(c, lambda v: not v > 1) + heads_wrong(c) + dropout_wrong(c)
    ),
    "thin-heads-refused": with_check(
        lambda c: everything_wrong(c) or (["n_embd = n_head"] if c.n_embd == c.n_head else [])
    ),
    "division-negated": with_check(
        lambda c: sizes_wrong(c) + dropout_wrong(c) + divisible_refused(c)
    ),
    "division-asked-last": with_check(
        lambda c: sizes_wrong(c) + dropout_wrong(c) or heads_wrong(c)
    ),
    "one-of-equal-values": with_check(one_name_for_a_value),
    "accepts-everything": with_check(lambda c: print(everything_wrong(c))),
    "assert-for-error": with_check(everything_wrong, error=AssertionError),
    "zero-division": with_check(modulo_first),
    "divides-the-wrong-way": with_check(swapped_modulo),
    "heads-unchecked": with_check(lambda c: sizes_wrong(c) + dropout_wrong(c)),
    "negative-accepted": with_check(
        lambda c: sizes_wrong(c, lambda v: v == 0) + heads_wrong(c) + dropout_wrong(c)
    ),
    "zero-accepted": with_check(
        lambda c: (
            sizes_wrong(c, lambda v: v < 0) + heads_wrong(c) + dropout_wrong(c) if c.n_head else []
        )
    ),
    "dropout-of-one": with_check(
        lambda c: sizes_wrong(c) + heads_wrong(c) + dropout_wrong(c, lambda p: abs(p - 0.5) <= 0.5)
    ),
    "no-dropout-refused": with_check(
        lambda c: sizes_wrong(c) + heads_wrong(c) + dropout_wrong(c, lambda p: 0 < p < 1)
    ),
    "dropout-unchecked": with_check(
        lambda c: sizes_wrong(c) + heads_wrong(c) + dropout_wrong(c, lambda p: p >= 0 or p < 1)
    ),
    "names-everything": with_check(lambda c: [f"{c} does not work"] if everything_wrong(c) else []),
    "setting-not-named": with_check(lambda c: ["these cannot be"] if everything_wrong(c) else []),
    "value-not-shown": with_check(
        lambda c: (
            [w.partition(" =")[0].partition(":")[0] for w in sizes_wrong(c)]
            + ["n_embd does not fit n_head" for _ in heads_wrong(c)]
            + ["dropout is out of range" for _ in dropout_wrong(c)]
        )
    ),
    "drops-unasked": DropsAFifth,
    "first-problem-only": with_check(everything_wrong, joined=lambda words: words[0]),
}


ODD = [
    (
        with_check(lambda c: everything_wrong(c) if len(everything_wrong(c)) > 1 else []),
        "impossible-accepted",
    ),
    (
        with_check(lambda c: everything_wrong(c) if c.n_layer > 0 else []),
        "impossible-accepted",
    ),
    (with_check(lambda c: [*everything_wrong(c), "no"]), "error"),
    (with_check(one_of_two_that_fit), "some-not-named"),
    (with_check(lambda c: sizes_wrong(c) + (heads_wrong(c) or dropout_wrong(c))), "some-not-named"),
    (with_check(head_blames_both), "others-named"),
    (with_check(everything_wrong, error=TypeError), "other-error"),
    (FlooredDropout, "refuses-the-possible"),
    (
        with_check(
            lambda c: (
                sizes_wrong(c)
                + heads_wrong(c)
                + [w.replace(f"{c.dropout}", f"{c.dropout:.1f}") for w in dropout_wrong(c)]
            )
        ),
        "value-not-shown",
    ),
    (OtherOrder, "refuses-the-possible"),
]
