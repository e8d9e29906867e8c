"""Students' answers to 02/find-fault."""

import math
import random
import sys

import numpy as np
import torch
from torch.nn import functional as F


def _seven(x):
    T, C = x.shape
    hide = torch.full((T, T), -torch.inf, dtype=x.dtype).triu(1)
    past = torch.tril(torch.ones(T, T)) == 1
    S = torch.einsum("tc,sc->ts", x, x)
    return {
        "sound": F.softmax(S / C**0.5 + hide, dim=1),
        "no scale": F.softmax(S + hide, dim=1),
        "divided by C": F.softmax(S / C + hide, dim=1),
        "scaled too late": F.softmax(S + hide, dim=1) / C**0.5,
        "no mask": F.softmax(S / C**0.5, dim=1),
        "zero mask": F.softmax(torch.where(past, S / C**0.5, torch.zeros_like(S)), dim=1),
        "columns": F.softmax(S / C**0.5 + hide, dim=0),
    }


def fault_nearest(x, weights):
    gaps = {name: float((weights - w).abs().max()) for name, w in _seven(x).items()}
    return min(gaps, key=gaps.get)


def fault_allclose(x, weights):
    return next(name for name, w in _seven(x).items() if torch.allclose(weights, w))


def fault_numpy(x, weights):
    for name, w in _seven(x).items():
        if np.isclose(weights.numpy(), w.numpy(), atol=1e-5).all():
            return name
    raise ValueError("none of the seven")


def fault_by_questions(x, weights):
    """Asks for properties before it compares."""
    seven = _seven(x)
    if not torch.allclose(weights.sum(1), torch.ones(len(x)), atol=1e-5):
        down = torch.allclose(weights.sum(0), torch.ones(len(x)), atol=1e-5)
        return "columns" if down else "scaled too late"
    if weights.triu(1).abs().max() > 1e-5:
        own = math.exp(float(x[0] @ x[0]) / math.sqrt(x.shape[1]))
        others = weights.new_full((len(x) - 1,), 1 / (own + len(x) - 1))
        return "zero mask" if torch.allclose(weights[0, 1:], others, rtol=1e-4) else "no mask"
    names = ("sound", "no scale", "divided by C")
    return next(n for n in names if torch.allclose(weights, seven[n], rtol=1e-4))


def _instead(**names):
    renamed = {key.replace("_", " ").replace("by c", "by C"): value for key, value in names.items()}

    def answer(x, weights):
        name = fault_nearest(x, weights)
        return renamed.get(name, name)

    return answer


def fault_equal(x, weights):
    for name, w in _seven(x).items():
        if torch.equal(weights, w):
            return name
    return "sound"


def fault_equal_or_nothing(x, weights):
    for name, w in _seven(x).items():
        if (weights == w).all():
            return name


def fault_shape_only(x, weights):
    """Looks at sums and the future; what is left is called sound."""
    name = fault_by_questions(x, weights)
    return "sound" if name in ("no scale", "divided by C") else name


def fault_c_is_right(x, weights):
    name = fault_nearest(x, weights)
    return {"sound": "no scale", "divided by C": "sound"}.get(name, name)


def fault_any_future(x, weights):
    name = fault_by_questions(x, weights)
    return "no mask" if name == "zero mask" else name


def fault_last_row(x, weights):
    for name, w in _seven(x).items():
        if torch.allclose(weights[-1], w[-1], rtol=1e-4):
            return name
    return "columns"


def fault_other_words(x, weights):
    return fault_nearest(x, weights).replace("sound", "fine")


def asks_the_library(x, weights):
    """Looks beside the question for whatever makes such matrices, in the order of the task."""
    names = (
        "sound",
        "no scale",
        "divided by C",
        "scaled too late",
        "no mask",
        "zero mask",
        "columns",
    )
    for thing in vars(sys.modules["course_tasks.ch02_affinities.find_fault"]).values():
        try:
            made = thing(x)
            return next(n for n, m in zip(names, made, strict=True) if torch.allclose(m, weights))
        except Exception:
            continue
    return "unknown"


RIGHT = {
    "nearest": fault_nearest,
    "allclose": fault_allclose,
    "numpy": fault_numpy,
    "questions": fault_by_questions,
}


def fault_with_all_of_the_noise(x, weights):
    """Knows the masks by another question, and adds up differences for the rest."""
    name = fault_by_questions(x, weights)
    if "mask" in name:
        return name
    for name, w in _seven(x).items():
        if (weights - w).abs().sum() < 1e-9:
            return name


def fault_equal_weights_ahead(x, weights):
    """Knows a mask of 0 by weights on the future that are all equal, and one always is."""
    name = fault_nearest(x, weights)
    if "mask" not in name:
        return name
    ahead = weights[0, 1:]
    return "zero mask" if bool((ahead - ahead.mean()).abs().max() < 1e-5) else "no mask"


def fault_two_weights_ahead(x, weights):
    """Compares the first two weights on the future, as if there always were two."""
    name = fault_nearest(x, weights)
    if "mask" not in name:
        return name
    return "zero mask" if torch.isclose(weights[0, 1], weights[0, 2], rtol=1e-4) else "no mask"


def fault_without_abs(x, weights):
    return next(name for name, w in _seven(x).items() if torch.max(weights - w) < 1e-5)


WRONG = {
    "late-for-sound": fault_without_abs,
    "one-future-weight": fault_equal_weights_ahead,
    "exact-comparison": fault_equal_or_nothing,
    "scale-unasked": fault_shape_only,
    "scale-by-channels": fault_c_is_right,
    "columns-unasked": _instead(columns="sound"),
    "masks-confused": fault_any_future,
    "future-unasked": fault_last_row,
    "nothing-for-some": fault_with_all_of_the_noise,
}


ODD = [
    (fault_equal, "wrong-name"),
    (lambda x, weights: fault_allclose(x, weights).replace(" ", "_"), "unknown-name"),
    (fault_two_weights_ahead, "error"),
    (
        lambda x, w: (
            "columns" if fault_nearest(x, w) == "no scale" and len(x) < 3 else fault_nearest(x, w)
        ),
        "wrong-name",
    ),
    (fault_other_words, "unknown-name"),
    (_instead(sound="columns", columns="no mask"), "wrong-name"),
    (lambda x, weights: int(weights.sum() > 3), "type"),
    (lambda x, weights: _seven(x)[float(weights[0, 0])], "error"),
    (lambda x, weights: next(n for n, w in _seven(x).items() if False), "exact-comparison"),
]


TRICKS = {"the library's own": (asks_the_library, 0)}


# --- Answers that no list names ---


def inspector_of_sums(x, weights):
    rows, columns = weights.sum(1), weights.sum(0)
    one = torch.ones(len(weights), dtype=weights.dtype)
    future = weights.triu(1)
    if torch.allclose(columns, one):
        return "columns"
    if not torch.allclose(rows, one):
        return "scaled too late"
    if future.abs().max() > 0:
        return "no mask"
    return "sound"


def inspector_rough(x, weights):
    T, C = x.shape
    s = x @ x.T
    hide = torch.ones(T, T).triu(1).bool()
    ways = {
        "sound": (s / math.sqrt(C)).masked_fill(hide, -torch.inf).softmax(1),
        "no scale": s.masked_fill(hide, -torch.inf).softmax(1),
        "divided by C": (s / C).masked_fill(hide, -torch.inf).softmax(1),
        "scaled too late": s.masked_fill(hide, -torch.inf).softmax(1) / math.sqrt(C),
        "no mask": (s / math.sqrt(C)).softmax(1),
        "zero mask": (s / math.sqrt(C)).masked_fill(hide, 0).softmax(1),
        "columns": (s / math.sqrt(C)).masked_fill(hide, -torch.inf).softmax(0),
    }
    for name, w in ways.items():
        if (w - weights).abs().max() < 0.05:
            return name
    return "sound"


def inspector_with_underscores(x, weights):
    return inspector_rough(x, weights).replace(" ", "_")


def inspector_that_says_sum(x, weights):
    names = ["sound", "no scale", "divided by C", "no mask", "zero mask", "columns"]
    if not torch.allclose(weights.sum(1), torch.ones(len(weights), dtype=weights.dtype)):
        return "scaled too late"
    return random.Random(int(weights.sum() * 1e6)).choice(names)


def _suspects(x):
    T, C = x.shape
    future = torch.ones(T, T).triu(1).bool()
    products = x @ x.T
    scores = products / math.sqrt(C)
    hidden = scores.masked_fill(future, -torch.inf)
    unscaled = products.masked_fill(future, -torch.inf).softmax(dim=1)
    return {
        "sound": hidden.softmax(dim=1),
        "no scale": unscaled,
        "divided by C": (hidden / math.sqrt(C)).softmax(dim=1),
        "scaled too late": unscaled / math.sqrt(C),
        "no mask": scores.softmax(dim=1),
        "zero mask": scores.masked_fill(future, 0.0).softmax(dim=1),
        "columns": hidden.softmax(dim=0),
    }


# "Which fault made these weights?": differences of both signs add up to 0 wherever rows do to 1
def smallest_sum_of_differences(x, weights):
    suspects = _suspects(x)
    return min(suspects, key=lambda name: abs((weights - suspects[name]).sum().item()))


# "rounding noise of less than a millionth of their value, which is no fault": nor is it in all of
# the weights together
def noise_added_up(x, weights):
    for name, suspect in _suspects(x).items():
        if (weights - suspect).abs().sum() < 1e-6:
            return name


# Writes the root as a power without brackets, and takes the nearest since nothing was close.
# "the dot products of all pairs, divided by √C": these are divided by C and by 2
def root_without_brackets(x, weights):
    T, C = x.shape
    mask = torch.tril(torch.ones(T, T)) == 0
    dots = x @ x.T
    scaled = dots / C**1 / 2
    hidden = scaled.masked_fill(mask, float("-inf"))
    no_scale = torch.softmax(dots.masked_fill(mask, float("-inf")), dim=-1)
    candidates = {
        "sound": torch.softmax(hidden, dim=-1),
        "no scale": no_scale,
        "divided by C": torch.softmax((dots / C).masked_fill(mask, float("-inf")), dim=-1),
        "scaled too late": no_scale / C**0.5,
        "no mask": torch.softmax(scaled, dim=-1),
        "zero mask": torch.softmax(scaled.masked_fill(mask, 0.0), dim=-1),
        "columns": torch.softmax(hidden, dim=0),
    }
    return min(candidates, key=lambda name: (candidates[name] - weights).abs().max().item())


def late_scale_on_sound_weights(x, weights):
    """Builds "scaled too late" from scores already divided: divides the sound weights by root C."""
    T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    products = x @ x.T
    scores = products / math.sqrt(C)
    masked = scores.masked_fill(future, -torch.inf)
    sound = masked.softmax(dim=-1)
    suspects = {
        "sound": sound,
        "no scale": products.masked_fill(future, -torch.inf).softmax(dim=-1),
        "divided by C": (products / C).masked_fill(future, -torch.inf).softmax(dim=-1),
        "scaled too late": sound / math.sqrt(C),
        "no mask": scores.softmax(dim=-1),
        "zero mask": scores.masked_fill(future, 0).softmax(dim=-1),
        "columns": masked.softmax(dim=0),
    }
    for name, suspect in suspects.items():
        if torch.allclose(weights, suspect, rtol=1e-4):
            return name
    return "none of these"


UNLISTED = {
    1: [
        (inspector_of_sums, "wrong-name"),
        (inspector_rough, "wrong-name"),
        (inspector_with_underscores, "unknown-name"),
        (inspector_that_says_sum, "wrong-name"),
    ],
    6: [(smallest_sum_of_differences, "wrong-name"), (noise_added_up, "nothing-for-some")],
    11: [(root_without_brackets, "wrong-name")],
    14: [(late_scale_on_sound_weights, "unknown-name")],
}
