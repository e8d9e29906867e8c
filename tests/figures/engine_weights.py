"""The parts of a figure, called in a page as the figure itself calls them, and what their answers
are compared with.
"""

import torch

ENGINE = ("engine", "checkpoint", "live_weights", "sampling_rules", "random", "arrays")
SAMPLING = ("sampling_rules", "random")


def open_engine(page, modules=ENGINE):
    """Put what some modules export under `window.room`: the very ones that the figures use."""
    page.evaluate(
        """async (names) => {
          const load = (name) => courseFigures.load(`runtime/${name}.js`);
          window.room = Object.assign({}, ...await Promise.all(names.map(load)));
          if (room.loadWeights) room.engine = new room.Engine(room.loadWeights(room.LIVE_WEIGHTS));
        }""",
        list(modules),
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
