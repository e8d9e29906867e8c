"""The turns of chapter 03."""

from course_page.turns import Slip, Turn

_COPIED = "def copied(text, book, length):\n"
_WINDOW = "def window_at(tokens, start, T):\n"

TURNS = (
    Turn(
        name="03/copied",
        asks=(
            "How much of a text is copied? Take every stretch of `length` symbols in it, also "
            "those that overlap, and give the share that the book contains."
        ),
        start=(
            "def copied(text, book, length):\n"
            '    """Share of the stretches of this length that the book contains."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_COPIED}"
            "    places = range(len(text) - length + 1)\n"
            "    return sum(text[p : p + length] in book for p in places) / len(places)\n"
        ),
        tries=(
            "copied('abcx', 'abcabc', 2)",
            "copied('xyab', 'abab', 2)",
            "copied('abc', 'abc', 3)",
        ),
        slips=(
            Slip(
                f"{_COPIED}"
                "    places = range(len(text) - length)\n"
                "    return sum(text[p : p + length] in book for p in places) / max(1, "
                "len(places))\n",
                "The last stretch is missing. In n symbols there are n − length + 1 of them.",
            ),
            Slip(
                f"{_COPIED}"
                "    places = range(len(text) - length + 1)\n"
                "    return sum(text[p : p + length] in book for p in places)\n",
                "This is how many are copied. Divided by how many there are, it is a share.",
            ),
            Slip(
                f"{_COPIED}"
                "    places = range(len(text) - length + 1)\n"
                "    return sum(text[p : p + length] in book for p in places) / len(text)\n",
                "A text has fewer stretches than symbols, so this never reaches 1.",
            ),
            Slip(
                f"{_COPIED}    return sum(symbol in book for symbol in text) / len(text)\n",
                "Here single symbols are looked up, and almost all of them are in any book.",
            ),
        ),
        passed="Below, it is asked of what each of the writers wrote.",
    ),
    Turn(
        name="03/window",
        asks=(
            "Cut one window out of a text: T inputs that begin at `start`, and for each of them "
            "the token that follows it."
        ),
        given="import torch\ntokens = torch.arange(10, 20) ** 2\n",
        start=(
            "def window_at(tokens, start, T):\n"
            '    """Inputs (T,) and targets (T,)."""\n'
            "    raise NotImplementedError  # replace this line\n"
        ),
        answer=(
            f"{_WINDOW}    return tokens[start : start + T], tokens[start + 1 : start + T + 1]\n"
        ),
        tries=("torch.stack(window_at(tokens, 2, 4))", "torch.stack(window_at(tokens, 0, 9))"),
        slips=(
            Slip(
                f"{_WINDOW}    return tokens[start : start + T], tokens[start : start + T]\n",
                "Each target is its own input, so copying is all that a model would learn.",
            ),
            Slip(
                f"{_WINDOW}"
                "    return tokens[start + 1 : start + T + 1], tokens[start : start + T]\n",
                "Inputs and targets are swapped: this model would predict the past.",
            ),
            Slip(
                f"{_WINDOW}    return tokens[:T], tokens[1 : T + 1]\n",
                "This is the first window of the text, wherever `start` is.",
            ),
        ),
        passed="T + 1 tokens give T examples, with contexts of 1 to T symbols.",
    ),
)
