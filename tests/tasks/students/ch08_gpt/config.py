"""Students' answers to 08/config."""

import dataclasses
from collections import namedtuple
from dataclasses import dataclass

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
    (
        with_check(
            lambda c: sizes_wrong(c) + heads_wrong(c) + dropout_wrong(c, lambda p: 0 <= p <= 0.9)
        ),
        "error",
    ),
]


# --- Answers that no list names ---


def _config(problems, error=ValueError):
    @dataclass(frozen=True)
    class Config:
        vocab_size: int
        block_size: int
        n_layer: int
        n_head: int
        n_embd: int
        dropout: float = 0.0

        def __post_init__(self):
            found = problems(self)
            if found:
                raise error("; ".join(found))

        @property
        def head_size(self):
            return self.n_embd // self.n_head

    return Config


_NAMES = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd")


def _small(c, names=_NAMES, least=1):
    return [f"{n} = {getattr(c, n)} is too small" for n in names if getattr(c, n) < least]


def _heads(c):
    if c.n_head < 1 or c.n_embd < 1 or c.n_embd % c.n_head == 0:
        return []
    return [f"n_embd = {c.n_embd} is no multiple of n_head = {c.n_head}"]


def _dropout(c):
    return [] if 0 <= c.dropout < 1 else [f"dropout = {c.dropout} is out of range"]


blocks_of_one_refused = _config(
    lambda c: _small(c) + _small(c, ("block_size",), 2) + _heads(c) + _dropout(c)
)


embedding_forgotten = _config(lambda c: _small(c, _NAMES[:-1]) + _heads(c) + _dropout(c))


dropout_of_more_than_one = _config(
    lambda c: _small(c) + _heads(c) + ([] if c.dropout >= 0 else [f"dropout = {c.dropout} < 0"])
)


division_only_if_large = _config(
    lambda c: _small(c) + (_heads(c) if c.n_embd > c.n_head else []) + _dropout(c)
)


type_error = _config(lambda c: _small(c) + _heads(c) + _dropout(c), TypeError)


divided_whenever = _config(
    lambda c: (
        _small(c)
        + (
            []
            if c.n_embd % max(c.n_head, 1) == 0
            else [f"n_embd = {c.n_embd}, n_head = {c.n_head}"]
        )
        + _dropout(c)
        + ([f"vocab_size = {c.vocab_size}"] if c.dropout >= 1 else [])
    )
)


@dataclass(frozen=True)
class _Config:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class ConfigThatDividesByZero(_Config):
    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))


@dataclass(frozen=True)
class ConfigWithoutValues(_Config):
    def __post_init__(self):
        problems = [
            f"{name} must be at least 1"
            for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd")
            if getattr(self, name) < 1
        ]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append("n_head must divide n_embd")
        if not 0 <= self.dropout < 1:
            problems.append("dropout must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))


@dataclass(frozen=True)
class ConfigThatAllowsFullDropout(_Config):
    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if self.dropout < 0 or self.dropout > 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))


@dataclass(frozen=True)
class ConfigThatShowsEverything:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} must be at least 1")
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append("n_head must divide n_embd")
        if not 0 <= self.dropout < 1:
            problems.append("dropout must be at least 0 and below 1")
        if problems:
            raise ValueError(f"{self}: " + "; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


def refuse(problems):
    if problems:
        raise ValueError("; ".join(problems))


@dataclass(frozen=True)
class Sizes:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "n_head divides n_embd"
@dataclass(frozen=True)
class DivisionTheOtherWay(Sizes):
    def __post_init__(self):
        problems = [
            f"{name} = {getattr(self, name)}: must be at least 1"
            for name in SIZES
            if getattr(self, name) < 1
        ]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_head % self.n_embd:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}: no division")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        refuse(problems)


# "the first five settings are at least 1"
@dataclass(frozen=True)
class OnlyZeroIsRefused(Sizes):
    def __post_init__(self):
        problems = [
            f"{name} = {getattr(self, name)}: must be at least 1"
            for name in SIZES
            if not getattr(self, name)
        ]
        if self.n_head and self.n_embd % self.n_head:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}: no division")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        refuse(problems)


# "The message names each setting that is wrong": division is asked only if all else is right.
@dataclass(frozen=True)
class DivisionComesLast:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = [f"{name} = {getattr(self, name)}" for name in SIZES if getattr(self, name) < 1]
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}")
        if not problems and self.n_embd % self.n_head:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "n_head divides n_embd", and not the other way.
@dataclass(frozen=True)
class DividesTheOtherWay:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = [f"{name} = {getattr(self, name)}" for name in SIZES if getattr(self, name) < 1]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_head % self.n_embd:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# The scaffold has `dropout: float = 0.0`.
@dataclass(frozen=True)
class DropsATenthByDefault:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.1

    def __post_init__(self):
        problems = [f"{name} = {getattr(self, name)}" for name in SIZES if getattr(self, name) < 1]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "reports everything that is wrong": here the dropout is asked about only where the heads fit
@dataclass(frozen=True)
class DropoutOnlyIfHeadsFit:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)} is below 1")
        if min(self.n_head, self.n_embd) >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        elif not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} is not in [0, 1)")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "names each setting that is wrong [...] and no setting that is right"
@dataclass(frozen=True)
class NamesWhatItShouldDivide:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)} must be at least 1")
        if self.n_head < 1 or (self.n_embd >= 1 and self.n_embd % self.n_head):
            problems.append(f"n_head = {self.n_head} must divide n_embd = {self.n_embd}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "everything that is wrong in a single ValueError": a length that is wrong hides the heads
@dataclass(frozen=True)
class HeadsOnlyIfNothingElse:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)}: at least 1, please")
        if not problems and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} does not split into n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: at least 0 and below 1, please")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "by its name and with its value": of a dropout of 1.04 the message says 1.0
@dataclass(frozen=True)
class RoundedDropout:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)} is too small")
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is no multiple of n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout:.1f} is no share")
        if problems:
            raise ValueError("\n".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# Tired, writes the usual message for the division and no numbers in it.
# "The message names each setting that is wrong, by its name and with its value"
@dataclass(frozen=True)
class DivisionWithoutValues:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        errors = []
        for name in ["vocab_size", "block_size", "n_layer", "n_head", "n_embd"]:
            value = getattr(self, name)
            if value < 1:
                errors.append(f"{name} must be at least 1, got {value}")
        if self.n_head > 0 and self.n_embd > 0 and self.n_embd % self.n_head:
            errors.append("n_embd must be divisible by n_head")
        if self.dropout < 0 or self.dropout >= 1:
            errors.append(f"dropout must be in [0, 1), got {self.dropout}")
        if errors:
            raise ValueError("\n".join(errors))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# Joined the three checks by `elif`, after a division by zero had stopped the first draft.
# "reports *everything* that is wrong in a single `ValueError`"
@dataclass(frozen=True)
class DropoutOnlyWhereSizesAreRight:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        sizes = ["vocab_size", "block_size", "n_layer", "n_head", "n_embd"]
        problems = [f"{s} = {getattr(self, s)} < 1" for s in sizes if getattr(self, s) < 1]
        if problems:
            pass
        elif self.n_embd % self.n_head:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        elif not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} is not in [0, 1)")
        if problems:
            raise ValueError("\n".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# Prints the whole object into the message, to be helpful.
# "and no setting that is right"
@dataclass(frozen=True)
class AllSettingsInTheMessage:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            value = getattr(self, name)
            if value < 1:
                problems.append(f"{name} is {value}")
        if self.n_head > 0 and self.n_embd > 0 and self.n_embd % self.n_head > 0:
            problems.append(f"n_embd {self.n_embd} is no multiple of n_head {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout is {self.dropout}")
        if problems:
            raise ValueError(f"{self}: " + ", ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# wants to be helpful and shows the whole of it: the message names "no setting that is right"
@dataclass(frozen=True)
class ShowsAllSettings:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ["vocab_size", "block_size", "n_layer", "n_head", "n_embd"]:
            value = getattr(self, name)
            if value < 1:
                problems.append(f"{name} is {value}, but must be at least 1")
        if min(self.n_head, self.n_embd) >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_head {self.n_head} does not divide n_embd {self.n_embd}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout is {self.dropout}, but must be in [0, 1)")
        if problems:
            raise ValueError(f"{self} is wrong: " + ", ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# goes on with `elif` where each question stands alone: "reports *everything* that is wrong"
@dataclass(frozen=True)
class DropoutIfTheHeadsFit:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        errors = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                errors.append(f"{name}={getattr(self, name)} is below 1")
        if self.n_head > 0 and self.n_embd > 0 and self.n_embd % self.n_head != 0:
            errors.append(f"n_embd={self.n_embd} is no multiple of n_head={self.n_head}")
        elif self.dropout < 0 or self.dropout >= 1:
            errors.append(f"dropout={self.dropout} is not in 0 … 1")
        if errors:
            raise ValueError("\n".join(errors))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# Raises before dividing, to be safe from a division by 0: "reports *everything* that is wrong in a
# single `ValueError`"
@dataclass(frozen=True)
class RaisesBeforeItDivides:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        errors = []
        for name in ["vocab_size", "block_size", "n_layer", "n_head", "n_embd"]:
            value = getattr(self, name)
            if value < 1:
                errors.append(f"{name}={value} must be at least 1")
        if self.dropout < 0 or self.dropout >= 1:
            errors.append(f"dropout={self.dropout} must be in [0, 1)")
        if errors:
            raise ValueError(", ".join(errors))
        if self.n_embd % self.n_head != 0:
            raise ValueError(f"n_head={self.n_head} must divide n_embd={self.n_embd}")

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class NamesWhatHeadsMustDivide:
    """Explains a wrong n_head with n_embd, which heads must divide,
    and so names a right setting.
    """

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} is {getattr(self, name)}, but must be at least 1")
        if self.n_head < 1:
            problems.append(f"n_head is {self.n_head}, but must be at least 1 and divide n_embd")
        elif self.n_embd >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_head is {self.n_head} and does not divide n_embd, {self.n_embd}")
        if self.dropout < 0 or self.dropout >= 1:
            problems.append(f"dropout is {self.dropout}, but must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class DivisionOnlyIfAllElseIsRight:
    """Asks whether n_head divides n_embd only if no other setting was wrong before."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if not problems and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class OnlyZeroHeadsAreGuarded:
    """Guards division against n_head = 0 only, so a negative n_embd has a right n_head named."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if self.n_head != 0 and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class WholeConfigInTheMessage:
    """Begins the message with the whole Config, which names the settings that are right as well."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if problems:
            raise ValueError(f"{self}: " + "; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class DivisionOnlyIfNothingElse:
    """Asks whether n_head divides n_embd only if no other setting was found wrong before."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            value = getattr(self, name)
            if value < 1:
                problems.append(f"{name} is {value}, but must be at least 1")
        if not problems and self.n_embd % self.n_head:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout is {self.dropout}, but must be in [0, 1)")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class WrongOnesByTheirValue:
    """Collects wrong settings in a dictionary by value: of several with one value, one is named."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        wrong = {}
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                wrong[getattr(self, name)] = name
        problems = [f"{name} = {value} is below 1" for value, name in wrong.items()]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} is not in [0, 1)")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class DivisionOnlyIfAllElseIsRightOfSet16:
    """Asks whether n_head divides n_embd only if no other setting is wrong, not even n_layer."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)} must be at least 1")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} must be at least 0 and below 1")
        if not problems and self.n_embd % self.n_head != 0:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


UNLISTED = {
    1: [
        (blocks_of_one_refused, None),
        (embedding_forgotten, None),
        (dropout_of_more_than_one, None),
        (division_only_if_large, None),
        (type_error, None),
        (divided_whenever, None),
    ],
    2: [
        (ConfigThatDividesByZero, None),
        (ConfigWithoutValues, None),
        (ConfigThatAllowsFullDropout, None),
    ],
    3: [(ConfigThatShowsEverything, None)],
    4: [(DivisionTheOtherWay, None), (OnlyZeroIsRefused, None)],
    5: [(DivisionComesLast, None), (DividesTheOtherWay, None), (DropsATenthByDefault, None)],
    6: [
        (DropoutOnlyIfHeadsFit, None),
        (NamesWhatItShouldDivide, None),
        (HeadsOnlyIfNothingElse, None),
        (RoundedDropout, None),
    ],
    7: [(DivisionWithoutValues, None)],
    8: [(DropoutOnlyWhereSizesAreRight, None), (AllSettingsInTheMessage, None)],
    9: [(ShowsAllSettings, None), (DropoutIfTheHeadsFit, None)],
    10: [(RaisesBeforeItDivides, None)],
    12: [(NamesWhatHeadsMustDivide, None)],
    13: [
        (DivisionOnlyIfAllElseIsRight, None),
        (OnlyZeroHeadsAreGuarded, None),
        (WholeConfigInTheMessage, None),
    ],
    14: [(DivisionOnlyIfNothingElse, None)],
    15: [(WrongOnesByTheirValue, None)],
    16: [(DivisionOnlyIfAllElseIsRightOfSet16, None)],
}
