"""The turns of chapter 09."""

from course_page.turns import Slip, Turn

_SHARE = "def known_share(held_out, training):\n"
_DETACHED = "def detached(state):\n    hidden, cell = state\n"

TURNS = (
    Turn(
        name="09/known-share",
        asks=(
            "How many of the held-out entries does the model know from training? A name that is "
            "held out twice counts twice."
        ),
        start=(
            "def known_share(held_out, training):\n"
            '    """The share of held-out entries whose name is in training too."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_SHARE}"
            "    known = set(training)\n"
            "    return sum(name in known for name in held_out) / len(held_out)\n"
        ),
        tries=(
            "known_share(['ada', 'bo', 'ada', 'cleo'], ['ada', 'eve', 'eve', 'dan', 'ada'])",
            "known_share(['bo'], ['bo', 'bo'])",
            "known_share(['bo', 'cleo'], ['ada'])",
        ),
        slips=(
            Slip(
                f"{_SHARE}"
                "    both = set(held_out) & set(training)\n"
                "    return len(both) / len(set(held_out))\n",
                "Sets forget that “ada” is held out twice: this is the share of distinct names, "
                "one of three, and asked for is the share of entries, two of four.",
            ),
            Slip(
                f"{_SHARE}"
                "    both = set(held_out) & set(training)\n"
                "    return len(both) / len(held_out)\n",
                "Here names are counted once and divided by entries. Count every held-out entry.",
            ),
            Slip(
                f"{_SHARE}"
                "    known = set(held_out)\n"
                "    return sum(name in known for name in training) / len(training)\n",
                "This is the share of the training entries that are held out as well. It is the "
                "held-out ones that have to be new.",
            ),
            Slip(
                f"{_SHARE}"
                "    known = set(training)\n"
                "    return sum(name not in known for name in held_out) / len(held_out)\n",
                "These are the entries that are new, so the share is one minus what is asked for.",
            ),
        ),
        passed="Below, it counts what a split by entry gives away.",
    ),
    Turn(
        name="09/detached",
        asks=(
            "Keep the numbers of the state and cut off the graph that made them, so that no "
            "gradient goes back into the batch before."
        ),
        given=(
            "import torch\n"
            "def state_of_batch():\n"
            "    weight = torch.tensor([2.0, -1.0], requires_grad=True)\n"
            "    return weight * 3, weight + 1\n"
            "def reaches_back(state):\n"
            "    return [float(part.requires_grad) for part in state]\n"
        ),
        start=(
            "def detached(state):\n"
            '    """The same numbers, without the steps that led to them."""\n'
            "    hidden, cell = state\n"
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=f"{_DETACHED}    return hidden.detach(), cell.detach()\n",
        tries=(
            "reaches_back(detached(state_of_batch()))",
            "torch.stack(list(detached(state_of_batch()))).tolist()",
        ),
        slips=(
            Slip(
                f"{_DETACHED}    return hidden.detach(), cell\n",
                "The cell state still belongs to the graph of the batch before, so the next "
                "`backward` fails as it did above.",
            ),
            Slip(
                f"{_DETACHED}    return hidden, cell.detach()\n",
                "The hidden state still belongs to the graph of the batch before.",
            ),
            Slip(
                f"{_DETACHED}    hidden.detach()\n    cell.detach()\n    return hidden, cell\n",
                "`detach` returns a new tensor and leaves the old one as it was, so its result has "
                "to be used.",
            ),
            Slip(
                f"{_DETACHED}    return torch.zeros_like(hidden), torch.zeros_like(cell)\n",
                "No gradient goes back, but the memory is lost with it: every batch would start "
                "blank.",
            ),
            Slip(
                f"{_DETACHED}    return cell.detach(), hidden.detach()\n",
                "Both are cut off, and swapped: the hidden state comes first.",
            ),
        ),
        passed="The memory goes on to the next batch, and its history doesn't.",
    ),
)
