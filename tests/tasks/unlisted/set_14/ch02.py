"""Wrong answers to chapter 02 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch

# 02/cosine


def normalized_along_positions(x, y):
    """Calls normalize with its default dim=1, which divides along positions, not entries."""
    x = torch.nn.functional.normalize(x)
    y = torch.nn.functional.normalize(y)
    return x @ y.transpose(1, 2)


# 02/safe-softmax


def hidden_zero_in_maximum(scores):
    """Hidden scores count as 0 in the maximum, so a masked row of very low scores is all 0."""
    largest = scores.nan_to_num(neginf=0.0).amax(dim=-1, keepdim=True)
    powers = (scores - largest).exp()
    sums = powers.sum(dim=-1, keepdim=True)
    return powers / sums.clamp(min=1e-30)


# 02/variance


def mean_taken_for_zero(queries, keys):
    """Returns mean squares: takes for granted that the mean of the dot products is 0."""
    products = (queries * keys).cumsum(dim=1)
    d = torch.arange(1, products.shape[1] + 1)
    scaled = products / d.sqrt()
    return products.square().mean(dim=0), scaled.square().mean(dim=0)


# 02/evenness


def divisors_clamped_to_one(weights):
    """Clamps all divisors to at least 1 to save row 0, which also raises log 2 in row 1."""
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log().clamp(min=1)
    return entropy / largest


# 02/smoother


def softmax_of_each_coordinate(at, known, values, width):
    """Doesn't add up the coordinates: a softmax for each alone, then the mean of the weights."""
    differences = at[:, None] - known  # (N, M, 2)
    scores = -differences.square() / (2 * width**2)
    weights = scores.softmax(dim=1).mean(dim=-1)  # (N, M)
    return weights @ values


# 02/find-fault


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


# 02/alike


def cosine_by_word_length():
    """For the cosine divides each vector by the number of letters of its word, not by its norm."""
    return {"text": "shakespeare", "words": 4.807, "dot": 8.13, "cosine": 3.443}


WRITTEN = {
    "02/cosine": [normalized_along_positions],
    "02/safe-softmax": [hidden_zero_in_maximum],
    "02/variance": [mean_taken_for_zero],
    "02/evenness": [divisors_clamped_to_one],
    "02/smoother": [softmax_of_each_coordinate],
    "02/find-fault": [late_scale_on_sound_weights],
    "02/alike": [cosine_by_word_length],
}
