"""The turns of chapter 12."""

from course_page.turns import Slip, Turn

_ATTEND = "def attend(query, key, value):\n    T, S = query.shape[-2], key.shape[-2]\n"
_SCORES = "    scores = query @ key.mT / math.sqrt(key.shape[-1])\n"
_SOFTMAX = "    return scores.masked_fill(~past, -torch.inf).softmax(dim=-1) @ value\n"
_STREAMED = (
    "def streamed(chunks):\n"
    "    m, total, weighted = torch.tensor(-torch.inf), 0.0, 0.0\n"
    "    for scores, values in chunks:\n"
    "        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))\n"
)
_ROUNDED = "def rounded(weight, bits):\n    most = 2 ** (bits - 1) - 1\n"

TURNS = (
    Turn(
        name="12/last-rows",
        asks=(
            "The T queries are those of the last T of S positions. Write the mask: row i of the "
            "queries may see all kept positions, and of the new ones those up to itself."
        ),
        given=(
            "import math\n"
            "import torch\n"
            "generator = torch.Generator().manual_seed(0)\n"
            "query, key, value = torch.randn(3, 1, 5, 2, generator=generator).unbind()\n"
        ),
        start=(
            "def attend(query, key, value):\n"
            '    """(…, T, D), (…, S, D) and (…, S, E) → (…, T, E)."""\n'
            "    T, S = query.shape[-2], key.shape[-2]\n"
            "    scores = query @ key.mT / math.sqrt(key.shape[-1])  # (…, T, S)\n"
            "    past = ...  # (T, S) bool\n"
            "    return scores.masked_fill(~past, -torch.inf).softmax(dim=-1) @ value\n"
        ),
        answer=(
            f"{_ATTEND}{_SCORES}"
            "    past = torch.ones(T, S, dtype=torch.bool).tril(S - T)\n"
            f"{_SOFTMAX}"
        ),
        tries=(
            "attend(query[:, 3:], key, value)",
            "attend(query[:, 4:], key, value)",
            "attend(query, key, value)",
        ),
        slips=(
            Slip(
                f"{_ATTEND}{_SCORES}"
                "    past = torch.ones(T, S, dtype=torch.bool).tril()\n"
                f"{_SOFTMAX}",
                "These are the first T rows of the triangle: the new positions see the beginning "
                "of the text, and not even themselves. The last rows begin S − T further right.",
            ),
            Slip(
                f"{_ATTEND}{_SCORES}    past = torch.ones(T, S, dtype=torch.bool)\n{_SOFTMAX}",
                "Nothing is hidden. With one new position that is right; with two, the first of "
                "them sees the second.",
            ),
            Slip(
                f"{_ATTEND}{_SCORES}"
                "    past = torch.ones(T, S, dtype=torch.bool).tril(S - T - 1)\n"
                "    past[:, 0] = True\n"
                f"{_SOFTMAX}",
                "The shift is one too small, so a new position doesn't see itself.",
            ),
        ),
        passed="One line, and a text may arrive in pieces of any length.",
    ),
    Turn(
        name="12/streamed-softmax",
        asks=(
            "The scores come in chunks. Write what happens to a chunk: `new` is the largest score "
            "so far. Bring the sums down to it, add the chunk to both of them, and remember `new`."
        ),
        given=(
            "import torch\n"
            "scores = torch.tensor("
            "[[0.0, 1.0, 2.0, 3.0, 4.0, 2.5], [2.0, 0.5, 0.0, 4.0, 1.0, 4.5]])\n"
            "values = torch.arange(12.0).view(6, 2)\n"
            "def chunks(length):\n"
            "    return list(zip(scores.split(length, dim=1), values.split(length)))\n"
        ),
        start=(
            "def streamed(chunks):\n"
            '    """Softmax-weighted mean (T, E) of scores (T, S_i) and values (S_i, E)."""\n'
            "    m = torch.tensor(-torch.inf)  # the largest score so far\n"
            "    total, weighted = 0.0, 0.0  # of the weights; of the values, weighted\n"
            "    for scores, values in chunks:\n"
            "        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))  # (T, 1)\n"
            "        raise NotImplementedError  # replace this line\n"
            "    return weighted / total\n"
        ),
        answer=(
            f"{_STREAMED}"
            "        shrink, e = (m - new).exp(), (scores - new).exp()\n"
            "        total = total * shrink + e.sum(dim=-1, keepdim=True)\n"
            "        weighted, m = weighted * shrink + e @ values, new\n"
            "    return weighted / total\n"
        ),
        tries=("streamed(chunks(6))", "streamed(chunks(2))", "streamed(chunks(5))"),
        slips=(
            Slip(
                f"{_STREAMED}"
                "        e = (scores - new).exp()\n"
                "        total = total + e.sum(dim=-1, keepdim=True)\n"
                "        weighted, m = weighted + e @ values, new\n"
                "    return weighted / total\n",
                "With one chunk this is right. When a larger score comes, what was added before "
                "still refers to the old maximum: multiply it by exp(m − new).",
            ),
            Slip(
                f"{_STREAMED}"
                "        shrink, e = (m - new).exp(), (scores - new).exp()\n"
                "        total = total * shrink + e.sum(dim=-1, keepdim=True)\n"
                "        weighted, m = weighted + e @ values, new\n"
                "    return weighted / total\n",
                "The sum of the weights is brought down to the new maximum, and the weighted "
                "values are not.",
            ),
            Slip(
                f"{_STREAMED}"
                "        shrink, e = (m - new).exp(), (scores - new).exp()\n"
                "        total = total * shrink + e.sum(dim=-1, keepdim=True)\n"
                "        weighted = weighted * shrink + e @ values\n"
                "    return weighted / total\n",
                "The maximum is never remembered, so `m` stays −∞, every chunk wipes out the ones "
                "before it, and only the last one is left.",
            ),
        ),
        passed="Nothing overflows, and no row of scores is ever needed whole.",
    ),
    Turn(
        name="12/rounded-weights",
        asks=(
            "Round each weight to a whole multiple of its row's scale. The largest weight of a row "
            "becomes `most` times the scale."
        ),
        given=(
            "import torch\nweight = torch.tensor([[0.9, -0.31, 0.04], [0.02, -0.035, 0.011]])\n"
        ),
        start=(
            "def rounded(weight, bits):\n"
            '    """A matrix (out, in) as it is after rounding, with one scale for each row."""\n'
            "    most = 2 ** (bits - 1) - 1  # 127 for 8 bits\n"
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_ROUNDED}"
            "    scale = weight.abs().amax(dim=1, keepdim=True) / most\n"
            "    return (weight / scale).round() * scale\n"
        ),
        tries=("rounded(weight, 3)", "rounded(weight, 4)", "rounded(-weight, 2)"),
        slips=(
            Slip(
                f"{_ROUNDED}"
                "    scale = weight.abs().max() / most\n"
                "    return (weight / scale).round() * scale\n",
                "This is one scale for the whole matrix, and it is too coarse for the second row, "
                "which is rounded to zeros.",
            ),
            Slip(
                f"{_ROUNDED}"
                "    scale = weight.abs().amax(dim=0, keepdim=True) / most\n"
                "    return (weight / scale).round() * scale\n",
                "`dim=0` goes down the columns, so each input channel has a scale. Asked for is "
                "one for each row.",
            ),
            Slip(
                f"{_ROUNDED}"
                "    scale = weight.amax(dim=1, keepdim=True) / most\n"
                "    return (weight / scale).round() * scale\n",
                "The largest weight is not always a positive one: take the absolute value first.",
            ),
            Slip(
                f"{_ROUNDED}"
                "    scale = weight.abs().amax(dim=1, keepdim=True) / most\n"
                "    return (weight / scale).round()\n",
                "These are the whole numbers that would be stored. Times the scale, they are "
                "weights again.",
            ),
        ),
        passed="No weight has moved by more than half a scale.",
    ),
)
