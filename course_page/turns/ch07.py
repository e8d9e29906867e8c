"""The turns of chapter 07."""

from course_page.turns import Slip, Turn

_NORM = "def layer_norm(x, gain, shift, eps=1e-5):\n    mean = x.mean(dim=-1, keepdim=True)\n"
_COUNT = "def block_parameters(C):\n"

TURNS = (
    Turn(
        name="07/layer-norm",
        asks=(
            "Give each position mean 0 and variance 1 over its own channels, then scale by `gain` "
            "and add `shift`. ε belongs under the root, and the variance divides by C."
        ),
        given=(
            "import torch\n"
            "x = torch.tensor([[[1.0, 2.0, 6.0], [0.0, 4.0, -1.0]]])\n"
            "gain, shift = torch.tensor([1.0, 2.0, 0.5]), torch.tensor([0.0, 0.1, -1.0])\n"
        ),
        start=(
            "def layer_norm(x, gain, shift, eps=1e-5):\n"
            '    """(B, T, C) → (B, T, C), each position over its own C channels."""\n'
            "    mean = x.mean(dim=-1, keepdim=True)  # (B, T, 1)\n"
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_NORM}"
            "    variance = (x - mean).square().mean(dim=-1, keepdim=True)\n"
            "    return gain * (x - mean) / (variance + eps).sqrt() + shift\n"
        ),
        tries=("layer_norm(x, gain, shift)", "layer_norm(x, gain, shift, eps=0.5)"),
        slips=(
            Slip(
                f"{_NORM}"
                "    variance = x.var(dim=-1, keepdim=True)\n"
                "    return gain * (x - mean) / (variance + eps).sqrt() + shift\n",
                "`var` divides by C − 1 unless you say `correction=0`.",
            ),
            Slip(
                f"{_NORM}"
                "    variance = (x - mean).square().mean(dim=-1, keepdim=True)\n"
                "    return gain * (x - mean) / (variance.sqrt() + eps) + shift\n",
                "ε is added outside the root. The larger it is, the more that changes.",
            ),
            Slip(
                f"{_NORM}"
                "    variance = (x - mean).square().mean(dim=-1, keepdim=True)\n"
                "    return gain * (x - mean) / (variance + eps) + shift\n",
                "This divides by the variance. Divided by its root, the result has variance 1.",
            ),
            Slip(
                f"{_NORM}"
                "    variance = (x - mean).square().mean(dim=-1, keepdim=True)\n"
                "    return gain * x / (variance + eps).sqrt() + shift\n",
                "The mean isn't taken off, only used for the variance.",
            ),
            Slip(
                f"{_NORM}"
                "    variance = (x - mean).square().mean(dim=-1, keepdim=True)\n"
                "    return (x - mean) / (variance + eps).sqrt()\n",
                "That is the normalized stream. `gain` and `shift` are still missing.",
            ),
        ),
        passed="No position has looked at another, so nothing of the future comes in.",
    ),
    Turn(
        name="07/block-parameters",
        asks=(
            "How many parameters has a block of C channels? Heads: queries, keys and values "
            "without biases, a projection with one. Feed-forward: C to 4C and back, with biases. "
            "Two norms, with a gain and a shift each."
        ),
        start=(
            "def block_parameters(C):\n"
            '    """An int; how many heads there are makes no difference."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=f"{_COUNT}    return 12 * C**2 + 10 * C\n",
        tries=("block_parameters(8)", "block_parameters(32)"),
        slips=(
            Slip(
                f"{_COUNT}    return 12 * C**2\n",
                "These are the matrices. Biases, gains and shifts are missing, 10 for a channel.",
            ),
            Slip(
                f"{_COUNT}    return 12 * C**2 + 6 * C\n",
                "The biases are there. The two norms have 4 C more.",
            ),
            Slip(
                f"{_COUNT}    return 12 * C**2 + 13 * C\n",
                "Queries, keys and values have no biases in this course.",
            ),
            Slip(
                f"{_COUNT}    return 8 * C**2 + 9 * C\n",
                "That is the feed-forward network and the norms. Attention has 4 C² + C more.",
            ),
        ),
        passed="Two thirds of it are the feed-forward network.",
    ),
)
