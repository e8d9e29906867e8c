"""The turns of chapter 02."""

from course_page.turns import Slip, Turn

_HEAD = "def affinity_weights(x, future):\n"

TURNS = (
    Turn(
        name="02/cosine",
        asks=(
            "The dot product grows with the lengths of both vectors. Divide them out, so that only "
            "the angle is left."
        ),
        start=(
            "def cosine(a, b):\n"
            '    """Dot product of two vectors, divided by both lengths: from −1 to 1."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer="def cosine(a, b):\n    return a @ b / (a.norm() * b.norm())\n",
        tries=(
            "cosine(torch.tensor([3.0, 4.0]), torch.tensor([6.0, 8.0]))",
            "cosine(torch.tensor([3.0, 4.0]), torch.tensor([-4.0, 3.0]))",
            "cosine(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]))",
            "cosine(torch.tensor([1.0, 0.0]), torch.tensor([2.0, 2.0]))",
        ),
        slips=(
            Slip(
                "def cosine(a, b):\n    return a @ b\n",
                "This is the dot product itself: of parallel vectors it is 50 here, and the cosine "
                "is 1.",
            ),
            Slip(
                "def cosine(a, b):\n    return a @ b / a.norm() * b.norm()\n",
                "Python divides and multiplies from left to right, so this multiplies by the other "
                "length. The product of the lengths needs parentheses.",
            ),
            Slip(
                "def cosine(a, b):\n    return a @ b / a.norm()\n",
                "One length is still in it. Divide by both.",
            ),
            Slip(
                "def cosine(a, b):\n    return a @ b / (a.norm() + b.norm())\n",
                "The lengths are added here. The dot product grows with each of them, so divide by "
                "their product.",
            ),
        ),
        passed="1 for the same direction, 0 for a right angle, whatever the lengths are.",
    ),
    Turn(
        name="02/affinity-weights",
        asks=(
            "Compare every position with every other, hide the future, and make weights of the "
            "scores. All three steps have been shown; two lines are enough."
        ),
        start=(
            "def affinity_weights(x, future):\n"
            '    """Softmax of the affinities with the past: (B, T, C) → (B, T, T).\n\n'
            "    future: (T, T) bool, True where s > t\n"
            '    """\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_HEAD}"
            "    scores = x @ x.transpose(1, 2)\n"
            "    return scores.masked_fill(future, -torch.inf).softmax(dim=-1)\n"
        ),
        given=(
            "import torch\n"
            "x = torch.tensor([[[1.0, 0.0], [0.5, 1.0], [0.0, 2.0]]])\n"
            "future = torch.ones(3, 3, dtype=torch.bool).triu(diagonal=1)\n"
        ),
        tries=("affinity_weights(x, future)", "affinity_weights(x[:, :2] * 2, future[:2, :2])"),
        slips=(
            Slip(
                f"{_HEAD}    return (x @ x.transpose(1, 2)).softmax(dim=-1)\n",
                "Nothing is hidden: the first row looks at positions that come later.",
            ),
            Slip(
                f"{_HEAD}"
                "    scores = x @ x.transpose(1, 2)\n"
                "    return scores.softmax(dim=-1).masked_fill(future, 0)\n",
                "The future is hidden after the softmax, so what it took is missing: the rows add "
                "up to less than 1. Hide it before.",
            ),
            Slip(
                f"{_HEAD}"
                "    scores = x @ x.transpose(1, 2)\n"
                "    return scores.masked_fill(future, 0).softmax(dim=-1)\n",
                "A score of 0 hides nothing, because its exponential is 1. What must get no weight "
                "needs a score of −∞.",
            ),
            Slip(
                f"{_HEAD}"
                "    scores = x @ x.transpose(1, 2)\n"
                "    return scores.masked_fill(future, -torch.inf).softmax(dim=1)\n",
                "The softmax goes down the columns. Row t holds the scores of position t, so it "
                "has to go along the last dimension.",
            ),
        ),
        passed="These are weights that depend on the words, and causal ones.",
    ),
)
