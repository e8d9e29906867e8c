"""The turns of chapter 01."""

from course_page.turns import Slip, Turn

_VALUES = "torch.tensor([4.0, 0.0, 6.0, 7.0, 0.0, 8.0, 0.0, 7.0])"

TURNS = (
    Turn(
        name="01/mean-so-far",
        asks=(
            "Output `t` of the figure is the mean of the values up to and including position `t`. "
            "Write it: one line, and a slice."
        ),
        start=(
            "def mean_so_far(values, t):\n"
            '    """Mean of values 0 … t, for values of shape (T,)."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer="def mean_so_far(values, t):\n    return values[: t + 1].mean()\n",
        tries=tuple(f"mean_so_far({_VALUES}, {t})" for t in (3, 0, 7)),
        slips=(
            Slip(
                "def mean_so_far(values, t):\n    return values[:t].mean()\n",
                "A slice ends before its upper bound, so `values[:t]` leaves position `t` out: "
                "position 3 averages three values instead of four, and position 0 none at all.",
            ),
            Slip(
                "def mean_so_far(values, t):\n    return values.mean()\n",
                "This averages all eight values, the later ones too, and is the same at every "
                "position.",
            ),
            Slip(
                "def mean_so_far(values, t):\n    return values[: t + 1].sum()\n",
                "These are the right values, but added up. How many of them are there?",
            ),
            Slip(
                "def mean_so_far(values, t):\n    return values[t:].mean()\n",
                "This is the mean of position `t` and all after it: the future, not the past.",
            ),
        ),
        passed=(
            "That is an average of the past, and everything in this chapter is one. Written for "
            "all positions at once, it becomes a matrix."
        ),
        folds=False,
    ),
    Turn(
        name="01/past-mean",
        asks=(
            "Do it for every sequence, every position and both channels. Two loops are fine; the "
            "next sections get rid of them."
        ),
        start=(
            "def past_mean_loop(x):\n"
            '    """Mean of positions 0 … t, for every t: (B, T, C) → (B, T, C)."""\n'
            "    B, T, C = x.shape\n"
            "    y = torch.zeros(B, T, C)\n"
            "    # fill y[b, t] for every b and t\n"
            "    return y\n"
        ),
        answer=(
            "def past_mean_loop(x):\n"
            "    B, T, C = x.shape\n"
            "    y = torch.zeros(B, T, C)\n"
            "    for b in range(B):\n"
            "        for t in range(T):\n"
            "            y[b, t] = x[b, : t + 1].mean(dim=0)\n"
            "    return y\n"
        ),
        tries=(
            "past_mean_loop(torch.tensor([[[2.0, 1.0], [4.0, 1.0], [9.0, 4.0]]]))",
            "past_mean_loop(torch.arange(12.0).view(2, 3, 2) ** 2)",
        ),
        slips=(
            Slip(
                "def past_mean_loop(x):\n"
                "    B, T, C = x.shape\n"
                "    y = torch.zeros(B, T, C)\n"
                "    for b in range(B):\n"
                "        for t in range(T):\n"
                "            y[b, t] = x[b, : t + 1].mean()\n"
                "    return y\n",
                "Without `dim=0`, `mean` averages over the channels as well, so both channels get "
                "the same number.",
            ),
            Slip(
                "def past_mean_loop(x):\n"
                "    B, T, C = x.shape\n"
                "    y = torch.zeros(B, T, C)\n"
                "    for b in range(B):\n"
                "        for t in range(T):\n"
                "            y[b, t] = x[b, :t].mean(dim=0)\n"
                "    return y\n",
                "A slice ends before its upper bound: no position sees itself, and the first has "
                "nothing to average, so it is NaN.",
            ),
        ),
        passed="The same numbers as in the cell below, which does it in the same way.",
    ),
    Turn(
        name="01/averaging-weights",
        asks="Make a function of the two steps: a triangle of ones, divided by its rows' sums.",
        start=(
            "def averaging_weights(T):\n"
            '    """(T, T): row t averages positions 0 … t."""\n'
            "    triangle = torch.tril(torch.ones(T, T))  # (T, T)\n"
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            "def averaging_weights(T):\n"
            "    triangle = torch.tril(torch.ones(T, T))\n"
            "    return triangle / triangle.sum(dim=1, keepdim=True)\n"
        ),
        tries=("averaging_weights(3)", "averaging_weights(1)"),
        slips=(
            Slip(
                "def averaging_weights(T):\n"
                "    triangle = torch.tril(torch.ones(T, T))\n"
                "    return triangle / triangle.sum(dim=1)\n",
                "Without `keepdim=True` the sums are a row, so column s is divided by the sum of "
                "row s: only the last row still adds up to 1.",
            ),
            Slip(
                "def averaging_weights(T):\n"
                "    triangle = torch.tril(torch.ones(T, T))\n"
                "    return triangle / triangle.sum(dim=0, keepdim=True)\n",
                "`dim=0` adds up columns, so the columns add up to 1 instead of the rows.",
            ),
            Slip(
                "def averaging_weights(T):\n    return torch.tril(torch.ones(T, T))\n",
                "Each row adds up its past. To average, it has to be divided by how many it adds.",
            ),
            Slip(
                "def averaging_weights(T):\n    return torch.tril(torch.ones(T, T)) / T\n",
                "Every row is divided by T, but row t has only t + 1 values to average.",
            ),
        ),
        passed="One multiplication by this matrix now does what the two loops did.",
    ),
)
