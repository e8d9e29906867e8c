"""The turns of chapter 04."""

from course_page.turns import Slip, Turn

_COUNT = "def count_pairs(tokens, V):\n"
_SURPRISE = "def mean_surprise(probabilities, tokens):\n"
_SMOOTH = "def smooth(counts, k):\n"

TURNS = (
    Turn(
        name="04/count-pairs",
        asks=(
            "Count how often each token follows each other token. A loop over the text is fine; "
            "the chapter's own lines do without."
        ),
        given="import torch\ntokens = torch.tensor([0, 2, 1, 2, 1, 0, 0])\n",
        start=(
            "def count_pairs(tokens, V):\n"
            '    """(V, V): entry (i, j) says how often token j followed token i."""\n'
            "    counts = torch.zeros(V, V, dtype=torch.int64)\n"
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_COUNT}"
            "    counts = torch.zeros(V, V, dtype=torch.int64)\n"
            "    for i, j in zip(tokens[:-1], tokens[1:]):\n"
            "        counts[i, j] += 1\n"
            "    return counts\n"
        ),
        tries=("count_pairs(tokens, 3)", "count_pairs(tokens[:4], 4)"),
        slips=(
            Slip(
                f"{_COUNT}"
                "    counts = torch.zeros(V, V, dtype=torch.int64)\n"
                "    counts[tokens[:-1], tokens[1:]] += 1\n"
                "    return counts\n",
                "`+=` at a list of places counts a pair that is there twice only once: all places "
                "are read first and then written.",
            ),
            Slip(
                f"{_COUNT}"
                "    counts = torch.zeros(V, V, dtype=torch.int64)\n"
                "    for i, j in zip(tokens[:-1], tokens[1:]):\n"
                "        counts[j, i] += 1\n"
                "    return counts\n",
                "Row and column are swapped: row i is for what follows i.",
            ),
            Slip(
                f"{_COUNT}"
                "    counts = torch.zeros(V, V, dtype=torch.int64)\n"
                "    for i, j in zip(tokens[::2], tokens[1::2]):\n"
                "        counts[i, j] += 1\n"
                "    return counts\n",
                "Every second pair is missing: a token ends one pair and begins the next.",
            ),
        ),
        passed="These counts are the whole bigram model.",
    ),
    Turn(
        name="04/mean-surprise",
        asks=(
            "Row i of the table holds the probabilities of what follows token i. Average the "
            "negative logarithm over all pairs of the text."
        ),
        given=(
            "import torch\n"
            "table = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])\n"
            "tokens = torch.tensor([0, 2, 1, 2, 1, 0, 0])\n"
        ),
        start=(
            "def mean_surprise(probabilities, tokens):\n"
            '    """Mean −log P(next | current) over a text of N tokens, in nats."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=f"{_SURPRISE}    return -probabilities[tokens[:-1], tokens[1:]].log().mean()\n",
        tries=("mean_surprise(table, tokens)", "mean_surprise(table, tokens[:2])"),
        slips=(
            Slip(
                f"{_SURPRISE}    return probabilities[tokens[:-1], tokens[1:]].log().mean()\n",
                "The sign: logarithms of probabilities are negative, and a surprise is positive.",
            ),
            Slip(
                f"{_SURPRISE}    return -probabilities[tokens[:-1], tokens[1:]].mean().log()\n",
                "This is the logarithm of the mean. Take the logarithm of each probability first.",
            ),
            Slip(
                f"{_SURPRISE}    return -probabilities[tokens[1:], tokens[:-1]].log().mean()\n",
                "Row and column are swapped: this asks how likely a token was before the next one.",
            ),
            Slip(
                f"{_SURPRISE}    return -probabilities[tokens[:-1], tokens[1:]].log().sum()\n",
                "This adds up the pairs, so a longer text has a larger loss.",
            ),
            Slip(
                f"{_SURPRISE}    return -probabilities[tokens[:-1], tokens[1:]].log2().mean()\n",
                "This is in bits. The course counts in nats, with the natural logarithm.",
            ),
        ),
        passed="This number is the loss that all later chapters lower.",
    ),
    Turn(
        name="04/smooth",
        asks="Add k to every count, and make probabilities of the rows.",
        given="import torch\ncounts = torch.tensor([[3, 1, 0], [0, 0, 0], [2, 5, 1]])\n",
        start=(
            "def smooth(counts, k):\n"
            '    """Probabilities (V, V) with k added to every count."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=f"{_SMOOTH}    return (counts + k) / (counts + k).sum(dim=1, keepdim=True)\n",
        tries=("smooth(counts, 1)", "smooth(counts, 0.1)"),
        slips=(
            Slip(
                f"{_SMOOTH}    return (counts + k) / counts.sum(dim=1, keepdim=True)\n",
                "The rows are divided by the old sums, so they add up to more than 1, and the "
                "symbol that was never seen is divided by 0.",
            ),
            Slip(
                f"{_SMOOTH}    return (counts + k) / (counts + k).sum(dim=1)\n",
                "Without `keepdim=True` the sums are a row, so column j is divided by the sum of "
                "row j.",
            ),
            Slip(
                f"{_SMOOTH}    return (counts + k) / (counts + k).sum()\n",
                "Here the whole table adds up to 1. Each row is a distribution of its own.",
            ),
            Slip(
                f"{_SMOOTH}    return (counts + k) / (counts + k).sum(dim=0, keepdim=True)\n",
                "`dim=0` adds up columns. What follows a symbol stands in its row.",
            ),
        ),
        passed="Nothing is impossible any more, and the loss of no text is infinite.",
    ),
)
