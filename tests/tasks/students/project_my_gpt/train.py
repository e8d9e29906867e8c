# ruff: noqa: E501 - slips are rows of a table
"""Answers to my-gpt/train. Their clocks count looks, so that trainings are as long everywhere."""

import functools

from course_judges.project_my_gpt import program
from course_tasks.project_my_gpt import train as probe
from students.project_my_gpt.programs import OF_A_KNOWN_SHAPE, STYLES, changed, names_of

SEEDS = [0]

# Nothing is tried again here because a machine is busy: the clocks of these programs count looks.
probe.LEAST_SHARE = 0.0


class Clock:
    """Stands for the module `time` in a program: each look at it takes some hundredths of a second,
    so that a training has as many steps on a busy machine as on any other.
    """

    def __init__(self, seconds_a_look):
        self._now, self._step = 0.0, seconds_a_look

    def time(self):
        self._now += self._step
        return self._now

    monotonic = perf_counter = time


@functools.cache
def with_a_clock(source, seconds_a_look=0.04):
    """What a program defines, with a clock of its own."""
    space = names_of.__wrapped__(source)  # a namespace that no other test has
    space["time"] = Clock(seconds_a_look)
    return space


_TRIED = ("plain", "only logits", "rotary positions", "dropout", "norms afterwards")

program.time = Clock(0.04)

RIGHT = {name: with_a_clock(changed(STYLES[name]))["train"] for name in _TRIED}
RIGHT["a file of a known shape"] = with_a_clock(OF_A_KNOWN_SHAPE)["train"]

WRONG = {}

_STEP = "        optimizer.step()\n"
_MODEL = "    model = GPT(len(symbols), 24, 32, 4, 2)\n"
_LOOP = "    while time.monotonic() - start < seconds:\n"
_RATE = "lr=0.004"

SLIPS = (
    ("returns nothing", [("    model.eval()\n    return model\n", "    model.eval()\n")], "error"),
    ("returns the loss, too", [("    return model\n", "    return model, loss\n")], "error"),
    ("takes tokens", [("[numbers[symbol] for symbol in text]", "[text]")], "error"),
    ("a fixed vocabulary", [("GPT(len(symbols), 24", "GPT(8, 24")], "error"),
    ("a block too short", [(_MODEL, _MODEL.replace("24", "8")), ("(len(data) - 24, (16, 1)) + torch.arange(24)", "(len(data) - 24, (16, 1)) + torch.arange(8)")], "error"),
    ("no step", [(_STEP, "")], "untrained"),
    ("one step only", [(_LOOP, "    for _ in range(1):\n")], "untrained"),
    ("another model is returned", [("    return model\n", "    return GPT(len(symbols), 24, 32, 4, 2)\n")], "untrained"),
    ("targets are the inputs", [("data[places + 1]", "data[places]")], "unshifted-targets"),
    ("targets of the past", [("data[places + 1]", "data[places - 1]")], "worse-than-nothing"),
    ("rate of 1", [(_RATE, "lr=1.0")], "worse-than-nothing"),
    ("gradients kept", [("        optimizer.zero_grad()\n", "")], "hardly-learned"),
    ("symbols numbered as they come", [("sorted(set(text))", "list(dict.fromkeys(text))")], "worse-than-nothing"),
    ("only the output learns", [("model.parameters(), lr", "model.head.parameters(), lr")], "last-token-only"),
    ("plain SGD", [("torch.optim.AdamW(", "torch.optim.SGD(")], "hardly-learned"),
    ("pieces of one symbol", [("(len(data) - 24, (16, 1)) + torch.arange(24)", "(len(data) - 24, (16, 1)) + torch.arange(1)")], "hardly-learned"),
    ("one and the same batch", [(_LOOP, "    places = torch.randint(len(data) - 24, (2, 1)) + torch.arange(24)\n" + _LOOP), ("        places = torch.randint(len(data) - 24, (16, 1)) + torch.arange(24)\n", "")], "worse-than-nothing"),
    ("no attention", [("        x = x + self.attention(self.norm1(x))\n", "")], "last-token-only"),
    ("one model for all texts", [("def train(", "KEPT = []\n\n\ndef train("), (_MODEL, "    if not KEPT:\n        KEPT.append(GPT(30, 24, 32, 4, 2))\n    model = KEPT[0]\n")], "changed-by-another"),
)  # fmt: skip

ODD = [(with_a_clock(changed(changes))["train"], finding) for _, changes, finding in SLIPS]
