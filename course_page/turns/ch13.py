"""The turns of chapter 13."""

from course_page.turns import Slip, Turn

_FORCED = "def teacher_forced(targets):\n"
_SINES = "def sinusoids(length, n_embd):\n"
_SPEEDS = (
    "    speeds = 10_000 ** (-torch.arange(0, n_embd, 2) / n_embd)\n"
    "    angles = torch.arange(length)[:, None] * speeds\n"
)
_MASK = "def target_mask(target):\n    T = target.shape[1]\n"

TURNS = (
    Turn(
        name="13/teacher-forced",
        asks=(
            "Make what the decoder reads, START and the target, and what it predicts, the target "
            "and END. The first row is as long as the batch; the second ends earlier, so its END "
            "comes right behind its last token. Leave PAD in both; −100 comes later."
        ),
        given=(
            "import torch\n"
            "import torch.nn.functional as F\n"
            "PAD, START, END = 0, 1, 2\n"
            "targets = torch.tensor([[5, 3, 4], [7, 6, 0]])\n"
        ),
        start=(
            "def teacher_forced(targets):\n"
            '    """Targets (B, T) → what is read and what is predicted, (B, T + 1) each."""\n'
            "    x = F.pad(targets, (1, 0), value=START)\n"
            "    y = ...\n"
            "    return x, y\n"
        ),
        answer=(
            f"{_FORCED}"
            "    x = F.pad(targets, (1, 0), value=START)\n"
            "    y = F.pad(targets, (0, 1), value=PAD)\n"
            "    ends = (targets != PAD).sum(dim=1, keepdim=True)\n"
            "    return x, y.scatter(1, ends, END)\n"
        ),
        tries=("torch.stack(teacher_forced(targets))", "torch.stack(teacher_forced(targets[1:]))"),
        slips=(
            Slip(
                f"{_FORCED}"
                "    x = F.pad(targets, (1, 0), value=START)\n"
                "    return x, F.pad(targets, (0, 1), value=END)\n",
                "For the longest target this is right. The shorter one has PAD between its last "
                "token and END, so the model would learn to write PAD.",
            ),
            Slip(
                f"{_FORCED}    x = F.pad(targets, (1, 0), value=START)\n    return x, x\n",
                "The model would predict what it reads at the same position, and copying is all "
                "that it would learn.",
            ),
            Slip(
                f"{_FORCED}"
                "    x = F.pad(targets, (1, 0), value=START)\n"
                "    return x, F.pad(targets, (0, 1), value=PAD)\n",
                "The rows line up, but END is missing, so the model would never learn to stop.",
            ),
        ),
        passed="At every position, the token to predict is the one that is read next.",
    ),
    Turn(
        name="13/sinusoids",
        asks=(
            "Channels 2i and 2i + 1 of position t are the sine and the cosine of t · aᵢ. The "
            "angles are there; put sines and cosines in turn."
        ),
        start=(
            "def sinusoids(length, n_embd):\n"
            '    """Positions 0 … length − 1: (length, C), C even."""\n'
            "    speeds = 10_000 ** (-torch.arange(0, n_embd, 2) / n_embd)  # (C/2,)\n"
            "    angles = torch.arange(length)[:, None] * speeds  # (length, C/2)\n"
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_SINES}{_SPEEDS}"
            "    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)\n"
        ),
        tries=("sinusoids(3, 4)", "sinusoids(2, 6)"),
        slips=(
            Slip(
                f"{_SINES}{_SPEEDS}    return torch.cat([angles.sin(), angles.cos()], dim=-1)\n",
                "All sines come first here, and then all cosines. Each pair belongs side by side: "
                "`stack` makes pairs, and `flatten` lays them in a row.",
            ),
            Slip(
                f"{_SINES}{_SPEEDS}"
                "    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)\n",
                "The cosine stands before the sine.",
            ),
        ),
        passed="Two channels are a hand of a clock, and each pair turns more slowly than the last.",
    ),
    Turn(
        name="13/target-mask",
        asks=(
            "Say who may see whom in a target: no position sees a later one, and none sees padding "
            "as a key. `PAD` is the token that fills up."
        ),
        given="import torch\nPAD = 0\ntarget = torch.tensor([[1, 5, 3, 4], [1, 7, 0, 0]])\n",
        start=(
            "def target_mask(target):\n"
            '    """Tokens (B, T) → (B, T, T) bool: True where row t may look at column s."""\n'
            "    T = target.shape[1]\n"
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_MASK}"
            "    past = torch.ones(T, T, dtype=torch.bool).tril()\n"
            "    return past & (target != PAD).unsqueeze(1)\n"
        ),
        tries=("target_mask(target)", "target_mask(target[:1, :2])"),
        slips=(
            Slip(
                f"{_MASK}"
                "    past = torch.ones(T, T, dtype=torch.bool).tril()\n"
                "    return past & (target != PAD).unsqueeze(2)\n",
                "This hides the rows of padding, so a padded position sees nothing, and its "
                "softmax is NaN. It is the columns, the keys, that must not be padding.",
            ),
            Slip(
                f"{_MASK}    return (target != PAD).unsqueeze(1).expand(-1, T, T)\n",
                "Padding is hidden, and the future isn't.",
            ),
            Slip(
                f"{_MASK}"
                "    past = torch.ones(T, T, dtype=torch.bool).tril()\n"
                "    return past.expand(len(target), T, T)\n",
                "The future is hidden, and padding isn't: it would be a key like any word.",
            ),
            Slip(
                f"{_MASK}"
                "    future = torch.ones(T, T, dtype=torch.bool).triu(1)\n"
                "    return future | (target == PAD).unsqueeze(1)\n",
                "This is True where a position must not look. In this chapter True means seen.",
            ),
            Slip(
                f"{_MASK}"
                "    past = torch.ones(T, T, dtype=torch.bool).tril(-1)\n"
                "    return past & (target != PAD).unsqueeze(1)\n",
                "The diagonal is missing: a position may see itself, and START has nothing else.",
            ),
        ),
        passed="Every row has at least one True, since START is never hidden from anybody.",
    ),
)
