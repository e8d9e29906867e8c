"""The turns of chapter 08."""

from course_page.turns import Slip, Turn

_SHARE = "def warm_up_then_cosine(step, steps, warm_up, final):\n"
_TOP_K = "def with_top_k(logits, k):\n"
_NEXT = "def next_distribution(model, tokens):\n"

TURNS = (
    Turn(
        name="08/warm-up-then-cosine",
        asks=(
            "Turn the formula into code: w is `warm_up`, n is `steps` and r is `final`. Two cases, "
            "and the first step must not be 0."
        ),
        given="import math\nimport torch\n",
        start=(
            "def warm_up_then_cosine(step, steps, warm_up, final):\n"
            '    """Share of the full rate at step 0 … steps − 1."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_SHARE}"
            "    if step < warm_up:\n"
            "        return (step + 1) / (warm_up + 1)\n"
            "    done = (step + 1 - warm_up) / (steps - warm_up)\n"
            "    return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * done))\n"
        ),
        tries=(
            "[warm_up_then_cosine(step, 10, 4, 0.1) for step in (0, 3, 4, 6, 9)]",
            "[warm_up_then_cosine(step, 6, 0, 0.0) for step in (0, 2, 5)]",
        ),
        slips=(
            Slip(
                f"{_SHARE}"
                "    if step < warm_up:\n"
                "        return step / warm_up\n"
                "    done = (step + 1 - warm_up) / (steps - warm_up)\n"
                "    return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * done))\n",
                "The first step has a rate of 0 and changes nothing. The formula begins with "
                "1 / (w + 1).",
            ),
            Slip(
                f"{_SHARE}"
                "    if step < warm_up:\n"
                "        return (step + 1) / (warm_up + 1)\n"
                "    done = (step + 1 - warm_up) / (steps - warm_up)\n"
                "    return 0.5 * (1 + math.cos(math.pi * done))\n",
                "The rate comes down to 0. It should stop at `final` of the full rate.",
            ),
            Slip(
                f"{_SHARE}"
                "    if step < warm_up:\n"
                "        return (step + 1) / (warm_up + 1)\n"
                "    done = (step + 1) / steps\n"
                "    return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * done))\n",
                "The cosine begins before the warm-up is over, so the rate never reaches its peak. "
                "Count its steps from `warm_up` on.",
            ),
            Slip(
                f"{_SHARE}"
                "    if step < warm_up:\n"
                "        return (step + 1) / (warm_up + 1)\n"
                "    done = (step + 1 - warm_up) / (steps - warm_up)\n"
                "    return final + 0.5 * (1 + math.cos(math.pi * done))\n",
                "This starts at `1 + final`, above the full rate. The cosine only has `1 - final` "
                "to come down.",
            ),
        ),
        passed="The loop below multiplies its peak rate by this share in every step.",
    ),
    Turn(
        name="08/top-k",
        asks=(
            "Keep the k likeliest symbols and give all others the probability 0. What is left has "
            "to add up to 1 again. `logits.topk(k).values` are the k largest, in falling order."
        ),
        given="import torch\nlogits = torch.tensor([1.0, -0.5, 3.0, 2.0, 0.0])\n",
        start=(
            "def with_top_k(logits, k):\n"
            '    """Logits (V,) → probabilities (V,), at most k of them above 0."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_TOP_K}"
            "    edge = logits.topk(k).values[-1]\n"
            "    return logits.masked_fill(logits < edge, -torch.inf).softmax(dim=-1)\n"
        ),
        tries=("with_top_k(logits, 2)", "with_top_k(logits, 1)", "with_top_k(logits, 5)"),
        slips=(
            Slip(
                f"{_TOP_K}"
                "    edge = logits.topk(k).values[-1]\n"
                "    return logits.masked_fill(logits < edge, 0.0).softmax(dim=-1)\n",
                "A logit of 0 still counts with a weight of e⁰ = 1. Before the softmax, what must "
                "get no probability needs −∞.",
            ),
            Slip(
                f"{_TOP_K}"
                "    edge = logits.topk(k).values[-1]\n"
                "    return logits.softmax(dim=-1).masked_fill(logits < edge, 0.0)\n",
                "The others are gone, and their probability with them: the rest adds up to less "
                "than 1. Cut before the softmax, or divide by the sum.",
            ),
            Slip(
                f"{_TOP_K}"
                "    edge = logits.topk(k).values[-1]\n"
                "    return logits.masked_fill(logits <= edge, -torch.inf).softmax(dim=-1)\n",
                "The k-th likeliest symbol itself is cut off, too: it equals the edge, and with "
                "`k = 1` nothing is left.",
            ),
            Slip(
                f"{_TOP_K}"
                "    edge = logits.topk(k).values[0]\n"
                "    return logits.masked_fill(logits < edge, -torch.inf).softmax(dim=-1)\n",
                "`values[0]` is the largest, so only one symbol is ever left. The edge is the last "
                "one, `values[-1]`.",
            ),
        ),
        passed="With k = 1 this is greedy: whatever the seed, the likeliest symbol is drawn.",
    ),
    Turn(
        name="08/next-distribution",
        asks=(
            "Before each draw, the loop asks the model what comes next. The model reads at most "
            "`model.block_size` tokens and returns `(logits, loss)`, with logits of shape "
            "(1, T, V)."
        ),
        given=(
            "import torch\n"
            "class Model:\n"
            "    block_size = 3\n"
            "    def __call__(self, tokens):\n"
            "        seen = tokens[:, -4:].cumsum(dim=1)[..., None]\n"
            "        return torch.sin(seen * torch.arange(1.0, 5.0) + tokens.shape[1]), None\n"
        ),
        start=(
            "def next_distribution(model, tokens):\n"
            '    """Tokens (1, any length) → probabilities (1, V) of the next one."""\n'
            "    context = ...  # all that the model can read\n"
            "    logits, _ = model(context)\n"
            "    return ...\n"
        ),
        answer=(
            f"{_NEXT}"
            "    context = tokens[:, -model.block_size :]\n"
            "    logits, _ = model(context)\n"
            "    return logits[:, -1].softmax(dim=-1)\n"
        ),
        tries=(
            "next_distribution(Model(), torch.tensor([[2, 1]]))",
            "next_distribution(Model(), torch.tensor([[3, 1, 0, 2, 1]]))",
        ),
        slips=(
            Slip(
                f"{_NEXT}    logits, _ = model(tokens)\n    return logits[:, -1].softmax(dim=-1)\n",
                "As long as the text is short this is right. This model of a test took the longer "
                "one as well; a GPT has no positions for it and stops with an error. Crop it.",
            ),
            Slip(
                f"{_NEXT}"
                "    context = tokens[:, : model.block_size]\n"
                "    logits, _ = model(context)\n"
                "    return logits[:, -1].softmax(dim=-1)\n",
                "These are the first tokens of the text. The model would write the same symbol "
                "for ever, because it never sees what it has written.",
            ),
            Slip(
                f"{_NEXT}"
                "    context = tokens[:, -model.block_size :]\n"
                "    logits, _ = model(context)\n"
                "    return logits.softmax(dim=-1)\n",
                "This has a distribution for every position. What comes next stands in the last "
                "row.",
            ),
            Slip(
                f"{_NEXT}"
                "    context = tokens[:, -model.block_size :]\n"
                "    logits, _ = model(context)\n"
                "    return logits[:, 0].softmax(dim=-1)\n",
                "This is what follows the first symbol of the context. The next symbol of the text "
                "is predicted at the last position.",
            ),
        ),
        passed="A draw from it, appended to the text, is one step of writing.",
    ),
)
