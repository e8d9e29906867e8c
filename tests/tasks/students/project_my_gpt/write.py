# ruff: noqa: E501 - slips are rows of a table
"""Answers to my-gpt/write, of programs that train for as many steps everywhere."""

from students.project_my_gpt.programs import OF_A_KNOWN_SHAPE, STYLES, changed, names_of
from students.project_my_gpt.train import with_a_clock

SEEDS = [0]

_TRIED = ("plain", "only logits", "rotary positions", "dropout")

RIGHT = {name: with_a_clock(changed(STYLES[name]), 0.0125)["write"] for name in _TRIED}
RIGHT["a file of a known shape"] = with_a_clock(OF_A_KNOWN_SHAPE, 0.0125)["write"]

WRONG = {}

# `write` is asked for a model, so what stands beside it is unfilled as well.
SCAFFOLD = names_of(
    """
from torch import nn


class GPT(nn.Module):
    def __init__(self, vocab_size, block_size, n_embd, n_head, n_layer):
        raise NotImplementedError


def train(text, seconds):
    raise NotImplementedError


def write(model, prompt, n):
    raise NotImplementedError
"""
)["write"]

_DRAW = "        following = torch.multinomial(probabilities, 1)\n"
_LOGITS = "logits = model(tokens[:, -model.block_size :])[0][:, -1]"
_EVAL = "    mode = model.training\n    model.eval()\n    tokens"
_BACK = "    model.train(mode)\n"
_JOIN = 'return "".join(model.symbols[token] for token in tokens[0].tolist())'
_DROPOUT = STYLES["dropout"]

SLIPS = (
    ("tokens for a text", [(_JOIN, "return tokens")], "error"),
    ("the prompt as a tensor", [("[[model.symbols.index(symbol) for symbol in prompt]]", "[prompt]")], "error"),
    ("not cropped", [("tokens[:, -model.block_size :]", "tokens")], "error"),
    ("prints the text", [(_JOIN, _JOIN.replace("return ", "print(") + ")")], "error"),
    ("no softmax", [("F.softmax(logits, dim=-1)", "logits")], "error"),
    ("without the prompt", [("tokens[0].tolist()", "tokens[0, len(prompt) :].tolist()")], "prompt-missing"),
    ("one symbol too many", [("range(n)", "range(n + 1)")], "wrong-length"),
    ("spaces between symbols", [('""', '" "')], "wrong-length"),
    ("stops at a block", [("range(n)", "range(min(n, model.block_size))")], "wrong-length"),
    ("only the window comes back", [("following], dim=1)", "following], dim=1)[:, -model.block_size :]")], "wrong-length"),
    ("the prompt is lost", [("    for _ in range(n):\n        logits", "    tokens = torch.zeros_like(tokens)\n    for _ in range(n):\n        logits")], "other-symbols"),
    ("argmax", [(_DRAW, "        following = probabilities.argmax(-1, keepdim=True)\n")], "always-the-likeliest"),
    ("seeded inside", [("def write(model, prompt, n):\n", "def write(model, prompt, n):\n    torch.manual_seed(1)\n")], "always-the-same"),
    ("dropout at work", [*_DROPOUT, (_EVAL, _EVAL.replace("model.eval()", "model.train()"))], "dropout-while-writing"),
    ("reads the last symbol", [("tokens[:, -model.block_size :]", "tokens[:, -1:]")], "reads-one-symbol"),
    ("temperature of a half", [("F.softmax(logits,", "F.softmax(logits / 0.5,")], "too-cautious"),
    ("top three", [(_LOGITS, _LOGITS + "\n        logits[logits < logits.topk(3)[0][:, -1:]] = -float('inf')")], "too-cautious"),
    ("softmax twice", [("F.softmax(logits, dim=-1)", "F.softmax(F.softmax(logits, dim=-1), dim=-1)")], "other-probabilities"),
    ("drawn evenly", [("F.softmax(logits, dim=-1)", "torch.ones_like(logits)")], "other-probabilities"),
    ("temperature of two", [("F.softmax(logits,", "F.softmax(logits / 2,")], "other-probabilities"),
    ("logits of the first position", [("[0][:, -1]\n        prob", "[0][:, 0]\n        prob")], "other-probabilities"),
    ("prompt cut to the window", [("    for _ in range(n):\n        logits", "    tokens = tokens[:, -model.block_size :]\n    for _ in range(n):\n        logits")], "long-prompt"),
    ("left in evaluation mode", [(_BACK, "")], "mode-changed"),
    ("put into training mode", [(_BACK, "    model.train()\n")], "mode-changed"),
    ("alphabet in a global", [("    model.symbols = symbols\n", "    global SYMBOLS\n    SYMBOLS = model.symbols = symbols\n"), (_JOIN, _JOIN.replace("model.symbols", "SYMBOLS"))], "error"),
    ("alphabet of the last text", [("    model.symbols = symbols\n", "    GPT.symbols = symbols\n")], "error"),
)  # fmt: skip

ODD = [(with_a_clock(changed(changes), 0.0125)["write"], finding) for _, changes, finding in SLIPS]
