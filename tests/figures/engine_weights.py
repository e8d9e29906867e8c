"""The parts inside a figure's module, called in a page as the module itself calls them, and what
their answers are compared with.
"""

import torch

from course_figures import sources

NAMES = "Engine, readWeights, loadWeights, LIVE_WEIGHTS, nextProbabilities, drawSymbol, course"


def open_engine(page, name="live_model"):
    """Put the parts of a module under `window.room`; the text is the one that pages get."""
    wanted = NAMES if name == "live_model" else "nextProbabilities, drawSymbol, course"
    text = f"{sources.module(name)}\nexport {{ {wanted} }};"
    page.evaluate(
        """async (text) => {
          const blob = new Blob([text], { type: "text/javascript" });
          window.room = { ...await import(URL.createObjectURL(blob)) };
          if (room.readWeights) room.engine = new room.Engine(room.loadWeights(room.LIVE_WEIGHTS));
        }""",
        text,
    )
    return page


def attention_of(model, tokens):
    """(L, H, T, T): weights of every head, as the plain model computes them."""
    layers, x = [], model.embedding(tokens)
    for block in model.blocks:
        normed = block.attention_norm(x)
        layers.append(torch.cat([head.weights(normed) for head in block.attention.heads]))
        x = block(x)
    return torch.stack(layers)
