"""The turns of chapter 06."""

from course_page.turns import Slip, Turn

_DROP = "def drop(weights, kept, p):\n"
_SPLIT = "def heads_first(queries, H):\n    B, T, C = queries.shape\n"
_LOSS = "def loss_at_each_position(logits, targets):\n"

TURNS = (
    Turn(
        name="06/dropped-weights",
        asks=(
            "`kept` is True for the weights that stay, which happens with probability `1 - p`. Set "
            "the others to zero, and scale what stays so that a weight keeps its size on average."
        ),
        given=(
            "import torch\n"
            "weights = torch.tensor([[1.0, 0.0], [0.4, 0.6]])\n"
            "kept = torch.tensor([[True, True], [False, True]])\n"
        ),
        start=(
            "def drop(weights, kept, p):\n"
            '    """(T, T) and (T, T) bool → (T, T)."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=f"{_DROP}    return weights * kept / (1 - p)\n",
        tries=("drop(weights, kept, 0.2)", "drop(weights, kept, 0.75)"),
        slips=(
            Slip(
                f"{_DROP}    return weights * kept\n",
                "The right ones are zero, but nothing makes up for them: on average a weight comes "
                "out as `1 - p` of itself, so training and evaluation would differ.",
            ),
            Slip(
                f"{_DROP}    return weights * kept / p\n",
                "A weight stays with probability `1 - p`, so that is what has to be divided out. "
                "With `p = 0.2` you make the weights five times as large.",
            ),
            Slip(
                f"{_DROP}    return weights * kept * (1 - p)\n",
                "Multiplying by `1 - p` shrinks the weights a second time. Division keeps the "
                "average.",
            ),
            Slip(
                f"{_DROP}"
                "    left = weights * kept\n"
                "    return left / left.sum(dim=-1, keepdim=True)\n",
                "Here each row sums to 1 again. Dropout doesn't do that: it keeps each weight on "
                "average, and a single row may sum to anything.",
            ),
            Slip(
                f"{_DROP}    return weights * ~kept / (1 - p)\n",
                "These are the weights that should have been dropped.",
            ),
        ),
        passed="That is inverted dropout. In evaluation it does nothing, and nothing is missing.",
    ),
    Turn(
        name="06/heads-first",
        asks=(
            "Cut the C channels of each position into H pieces, and move the heads beside the "
            "batch: (B, T, C) becomes (B, H, T, D)."
        ),
        given="import torch\nqueries = torch.arange(24.0).view(2, 3, 4)\n",
        start=(
            "def heads_first(queries, H):\n"
            '    """(B, T, C) → (B, H, T, D), where D = C / H."""\n'
            "    B, T, C = queries.shape\n"
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=f"{_SPLIT}    return queries.view(B, T, H, C // H).transpose(1, 2)\n",
        tries=("heads_first(queries, 2)", "heads_first(queries, 4)", "heads_first(queries, 1)"),
        slips=(
            Slip(
                f"{_SPLIT}    return queries.view(B, H, T, C // H)\n",
                "The shape is right and the numbers are not: `view` keeps the order in memory, so "
                "head 0 got the first positions whole instead of a piece of every position.",
            ),
            Slip(
                f"{_SPLIT}    return queries.view(B, T, H, C // H)\n",
                "Each position is cut into its heads. Now the heads have to come before the "
                "positions.",
            ),
            Slip(
                f"{_SPLIT}    return queries.view(B, T, C // H, H).permute(0, 3, 1, 2)\n",
                "This deals the channels out one by one, so head 0 gets every H-th. Head h owns "
                "neighbors, channels hD to (h + 1)D − 1.",
            ),
            Slip(
                f"{_SPLIT}    return queries.view(B, T, H, C // H).transpose(2, 3)\n",
                "This swaps the heads with the channels of a head. Swap them with the positions.",
            ),
        ),
        passed="Each head has a (T, D) table of its own now, and the batch takes care of the rest.",
    ),
    Turn(
        name="06/loss-at-each-position",
        asks=(
            "Find out where a model is good: the mean loss at each position, over all windows. "
            '`F.cross_entropy` expects logits of shape (N, V, T) here, and `reduction="none"` '
            "leaves the losses unaveraged."
        ),
        given=(
            "import torch\n"
            "import torch.nn.functional as F\n"
            "logits = torch.tensor([[[2.0, 0.0, 0.0], [0.0, 1.0, 3.0]], "
            "[[0.0, 4.0, 1.0], [1.0, 1.0, 0.0]], [[0.5, 0.0, 2.0], [0.0, 0.0, 5.0]]])\n"
            "targets = torch.tensor([[0, 1], [2, 0], [1, 2]])\n"
        ),
        start=(
            "def loss_at_each_position(logits, targets):\n"
            '    """Logits (N, T, V) and targets (N, T) → (T,)."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_LOSS}"
            '    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")\n'
            "    return losses.mean(dim=0)\n"
        ),
        tries=(
            "loss_at_each_position(logits, targets)",
            "loss_at_each_position(logits[:1], targets[:1])",
        ),
        slips=(
            Slip(
                f"{_LOSS}    return F.cross_entropy(logits.transpose(1, 2), targets)\n",
                "This is the mean over all windows and positions, a single number.",
            ),
            Slip(
                f"{_LOSS}"
                '    return F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")\n',
                "These are the losses of every window. Average over the windows, the first "
                "dimension.",
            ),
            Slip(
                f"{_LOSS}"
                '    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")\n'
                "    return losses.mean(dim=1)\n",
                "This averages over the positions, so it is one number for each window. Asked for "
                "is one for each position.",
            ),
            Slip(
                f"{_LOSS}"
                '    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")\n'
                "    return losses.sum(dim=0)\n",
                "This adds the windows up, so it grows with their number.",
            ),
        ),
        passed="A mean over everything would have hidden what these numbers are about to show.",
    ),
)
