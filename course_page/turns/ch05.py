"""The turns of chapter 05."""

from course_page.turns import Slip, Turn

_GIVEN = """import math
import torch
scores = torch.tensor([[[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [0.5, 0.0, 1.0]]])
past = torch.ones(5, 5, dtype=torch.bool).tril()
query = torch.tensor([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]])
key = torch.tensor([[[1.0, 1.0], [0.0, 1.0], [2.0, 0.0]]])
value = torch.tensor([[[1.0, 0.0], [2.0, 4.0], [3.0, 9.0]]])
"""

_WEIGHTS = "def causal_weights(scores, past):\n"
_ATTEND = "def attend(query, key, value, past):\n"

TURNS = (
    Turn(
        name="05/causal-weights",
        asks=(
            "Make weights of the scores, so that no position sees a later one. The triangle `past` "
            "was made for the longest text, so it has to be cut to this one."
        ),
        given=_GIVEN,
        start=(
            "def causal_weights(scores, past):\n"
            '    """(B, T, T) → (B, T, T); rows add up to 1.\n\n'
            "    past: (block_size, block_size) bool, True on and below the diagonal\n"
            '    """\n'
            "    T = scores.shape[-1]\n"
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_WEIGHTS}"
            "    T = scores.shape[-1]\n"
            "    return scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1)\n"
        ),
        tries=("causal_weights(scores, past)", "causal_weights(scores[:, :1, :1], past)"),
        slips=(
            Slip(
                f"{_WEIGHTS}"
                "    T = scores.shape[-1]\n"
                "    scores.masked_fill(~past[:T, :T], -torch.inf)\n"
                "    return scores.softmax(dim=-1)\n",
                "The future is still seen. `masked_fill` returns a new tensor, so its result has "
                "to be used.",
            ),
            Slip(
                f"{_WEIGHTS}"
                "    T = scores.shape[-1]\n"
                "    return scores.softmax(dim=-1).masked_fill(~past[:T, :T], 0)\n",
                "The future is hidden after the softmax, so the rows add up to less than 1.",
            ),
            Slip(
                f"{_WEIGHTS}"
                "    T = scores.shape[-1]\n"
                "    return scores.masked_fill(past[:T, :T], -torch.inf).softmax(dim=-1)\n",
                "`past` is True where a position may look, and these are the scores that you have "
                "hidden. `~past` turns it round.",
            ),
        ),
        passed="Row 0 has one weight, and it is 1. The cell below does the same step by step.",
    ),
    Turn(
        name="05/attend",
        asks=(
            "Now everything at once: scores of queries and keys, divided by the root of the head "
            "size, made causal, and an average of the values. This is all that a head computes."
        ),
        given=_GIVEN,
        start=(
            "def attend(query, key, value, past):\n"
            '    """(B, T, D) each → (B, T, D)."""\n'
            "    T, D = query.shape[-2:]\n"
            "    scores = ...  # (B, T, T), scaled\n"
            "    weights = ...  # (B, T, T), causal\n"
            "    return ...  # (B, T, D)\n"
        ),
        answer=(
            f"{_ATTEND}"
            "    T, D = query.shape[-2:]\n"
            "    scores = query @ key.transpose(1, 2) / math.sqrt(D)\n"
            "    weights = scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1)\n"
            "    return weights @ value\n"
        ),
        tries=(
            "attend(query, key, value, past)",
            "attend(query[:, :2], key[:, :2], value[:, :2], past)",
        ),
        slips=(
            Slip(
                f"{_ATTEND}"
                "    T, D = query.shape[-2:]\n"
                "    scores = query @ key.transpose(1, 2)\n"
                "    weights = scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1)\n"
                "    return weights @ value\n",
                "The scale is missing: divide the scores by the root of D before the softmax.",
            ),
            Slip(
                f"{_ATTEND}"
                "    T, D = query.shape[-2:]\n"
                "    scores = key @ query.transpose(1, 2) / math.sqrt(D)\n"
                "    weights = scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1)\n"
                "    return weights @ value\n",
                "Keys ask and queries answer here. Row t belongs to the query of t, so the queries "
                "stand on the left.",
            ),
            Slip(
                f"{_ATTEND}"
                "    T, D = query.shape[-2:]\n"
                "    scores = query @ key.transpose(1, 2) / math.sqrt(D)\n"
                "    return scores.softmax(dim=-1) @ value\n",
                "Every position sees the whole text, the future too.",
            ),
            Slip(
                f"{_ATTEND}"
                "    T, D = query.shape[-2:]\n"
                "    scores = query @ key.transpose(1, 2) / math.sqrt(D)\n"
                "    weights = scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1)\n"
                "    return weights @ key\n",
                "This averages the keys. What a head passes on are the values.",
            ),
        ),
        passed="That is a head of attention. PyTorch's own function gives the same numbers.",
    ),
)
