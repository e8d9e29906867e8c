"""The turns of chapter 11."""

from course_page.turns import Slip, Turn

_BACK = "def previous_token_scores(maps):\n"
_LENS = "def lens(model, streams):\n"
_SHARE = "def brought_back(patched, clean, corrupted):\n"

TURNS = (
    Turn(
        name="11/previous-token-scores",
        asks=(
            "The weight of position t for position t − 1 stands just below the diagonal of a "
            "head's map. Average it over positions and texts; layers and heads stay."
        ),
        given=(
            "import torch\n"
            "one, other = (torch.rand(2, 3, 2, 4, 4, generator=torch.Generator().manual_seed(k))"
            ".tril() for k in (0, 1))\n"
        ),
        start=(
            "def previous_token_scores(maps):\n"
            '    """(L, B, H, T, T) → (L, H)."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(f"{_BACK}    return maps.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(1, 3))\n"),
        tries=("previous_token_scores(one)", "previous_token_scores(other[..., :2, :2])"),
        slips=(
            Slip(
                f"{_BACK}    return maps.diagonal(offset=1, dim1=-2, dim2=-1).mean(dim=(1, 3))\n",
                "Above the diagonal is the future, where every weight is 0. Row t asks, so the "
                "position before it is at `offset=-1`.",
            ),
            Slip(
                f"{_BACK}    return maps.diagonal(dim1=-2, dim2=-1).mean(dim=(1, 3))\n",
                "The diagonal itself holds the weight of each position for itself.",
            ),
            Slip(
                f"{_BACK}"
                "    return maps.diagonal(offset=-1, dim1=-2, dim2=-1).sum(dim=3).mean(dim=1)\n",
                "This adds up the positions of a text, so it grows with the text's length.",
            ),
            Slip(
                f"{_BACK}    return maps.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=3)\n",
                "This still has one score for each text. Average over the texts as well, "
                "dimension 1.",
            ),
        ),
        passed="A head that always looks at the symbol before gets a 1.",
    ),
    Turn(
        name="11/lens",
        asks=(
            "Read an earlier stream as if it were the last one: what would the model say if it "
            "stopped here? Use the model's own last two steps."
        ),
        given=(
            "import torch\n"
            "torch.manual_seed(0)\n"
            "class Model:\n"
            "    norm = torch.nn.LayerNorm(4)\n"
            "    output = torch.nn.Linear(4, 5)\n"
            "model = Model()\n"
            "streams = torch.arange(24.0).view(2, 1, 3, 4) ** 2 / 10\n"
        ),
        start=(
            "def lens(model, streams):\n"
            '    """Streams (L + 1, B, T, C) → logits (L + 1, B, T, V)."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=f"{_LENS}    return model.output(model.norm(streams))\n",
        tries=("lens(model, streams)", "lens(model, streams[:1, :, :2])"),
        slips=(
            Slip(
                f"{_LENS}    return model.output(streams)\n",
                "The final norm is missing, so the numbers are those of a model that doesn't "
                "exist. At the last layer they differ from the model's own logits.",
            ),
            Slip(
                f"{_LENS}    return streams @ model.output.weight.T\n",
                "This leaves out the final norm, and what the output layer adds.",
            ),
            Slip(
                f"{_LENS}    return model.output(model.norm(streams[-1]))\n",
                "These are the logits of the last stream only. The lens is for all of them.",
            ),
            Slip(
                f"{_LENS}    return model.output(model.norm(streams)).softmax(dim=-1)\n",
                "These are probabilities. Asked for are the logits themselves.",
            ),
        ),
        passed="At the last layer it gives the model's own logits, which is a good test of it.",
    ),
    Turn(
        name="11/brought-back",
        asks=(
            "Say how much of the lead a patch brings back: 0 if it is as low as in the corrupted "
            "run, 1 if it is as high as in the clean one."
        ),
        start=(
            "def brought_back(patched, clean, corrupted):\n"
            '    """Three leads → a share."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=f"{_SHARE}    return (patched - corrupted) / (clean - corrupted)\n",
        tries=(
            "brought_back(2.0, 10.0, -6.0)",
            "brought_back(-6.0, 10.0, -6.0)",
            "brought_back(12.0, 8.0, 4.0)",
        ),
        slips=(
            Slip(
                f"{_SHARE}    return patched / clean\n",
                "The corrupted run's lead isn't 0, so it has to be taken off above and below: as "
                "it is, a patch that does nothing gets a share of −0.6.",
            ),
            Slip(
                f"{_SHARE}    return (patched - corrupted) / clean\n",
                "A patch that brings everything back would get more than 1: divide by the whole "
                "way from the corrupted lead to the clean one.",
            ),
            Slip(
                f"{_SHARE}    return (clean - patched) / (clean - corrupted)\n",
                "This is what is still missing. A patch that does nothing gets a 1.",
            ),
            Slip(
                f"{_SHARE}    return patched - corrupted\n",
                "This is the difference in logits. Divided by the whole difference, it is a share.",
            ),
        ),
        passed="Below, it is measured for each of the four heads.",
    ),
)
