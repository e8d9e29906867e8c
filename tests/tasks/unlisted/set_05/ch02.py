"""Wrong answers to chapter 02 that no list names: the fifth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch

# 02/cosine


# "Return the cosine of every vector": a vector shorter than 1 is not brought to length 1
def lengths_clamped_at_one(x, y):
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1)
    y = y / y.norm(dim=-1, keepdim=True).clamp(min=1)
    return x @ y.transpose(1, 2)


# "Unless a task says otherwise, your functions leave what they are given as it was."
def second_sequence_divided_in_place(x, y):
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    y /= y.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return x @ y.transpose(1, 2)


# "0 where one of the two is a vector of zeros": a row of an x that is 0 is taken care of, a y is
# replaced by ones before its length is taken
def zeros_of_the_second_become_ones(x, y):
    y = torch.where((y == 0).all(dim=-1, keepdim=True), torch.ones_like(y), y)
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return x @ (y / y.norm(dim=-1, keepdim=True)).transpose(1, 2)


# 02/safe-softmax


# "scores as large as 10,000 and as small as −10,000, also in the same row"
def exponents_clamped(scores):
    powers = scores.clamp(-80, 80).exp().masked_fill(scores == -torch.inf, 0.0)
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


# "rows in which every score is −∞. Such a row may see nothing": and no other row
def empty_if_the_first_is_hidden(scores):
    empty = scores[:, :1] == -torch.inf
    largest = scores.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
    powers = (scores - largest).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)
    return weights.masked_fill(empty, 0.0)


# "a row of nothing but −inf is all 0": the others sum to 1
def a_hundredth_added_to_every_sum(scores):
    largest = scores.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
    powers = (scores - largest).exp()
    return powers / (powers.sum(dim=-1, keepdim=True) + 1e-2)


# 02/variance


# "the variance, over the N pairs, of the dot product of the first d entries"
def variances_of_the_products_added_up(queries, keys):
    variances = (queries * keys).var(dim=0).cumsum(dim=0)
    d = torch.arange(1, queries.shape[1] + 1)
    return variances, variances / d


# "the same after each of these dot products has been divided by √d"
def variance_divided_by_the_root(queries, keys):
    variances = (queries * keys).cumsum(dim=1).var(dim=0)
    d = torch.arange(1, queries.shape[1] + 1)
    return variances, variances / d.sqrt()


# "the dot product of the first d entries, for d = 1, 2, …, D": counted from the last entry
def last_entries_first(queries, keys):
    products = (queries * keys).flip(1).cumsum(dim=1)
    d = torch.arange(1, queries.shape[1] + 1)
    return products.var(dim=0), (products / d.sqrt()).var(dim=0)


# 02/evenness


# "its entropy as a share of the largest entropy that a row with t + 1 visible positions can have":
# log 2 is smaller than 1
def divisors_clamped_at_one(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    return entropy / torch.arange(1, weights.shape[-1] + 1).log().clamp(min=1)


# "row t may see t + 1 positions"
def share_of_the_longest_row(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    return entropy / math.log(weights.shape[-1])


# "its entropy as a share of the largest entropy": the powers of two entropies
def perplexity_as_a_share(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    share = entropy.exp() / torch.arange(1, weights.shape[-1] + 1)
    share[:, 0] = 0
    return share


# 02/smoother


# "every place averages the stations with the softmax of its scores": far away, too
def plain_mean_far_away(at, known, values, width):
    squares = (at[:, None] - known).square().sum(dim=-1)
    powers = (-squares / (2 * width**2)).exp()
    total = powers.sum(dim=-1, keepdim=True)
    average = powers @ values / total.clamp(min=1e-30)
    return torch.where(total < 1e-30, values.mean(dim=0), average)


# "|at − known|²": the squares are added, not the differences
def differences_added_then_squared(at, known, values, width):
    squares = (at[:, None] - known).sum(dim=-1).square()
    return (-squares / (2 * width**2)).softmax(dim=-1) @ values


# "2 · width²"
def two_inside_the_square(at, known, values, width):
    squares = (at[:, None] - known).square().sum(dim=-1)
    return (-squares / (2 * width) ** 2).softmax(dim=-1) @ values


# 02/find-fault


def seven(x):
    T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    products = x @ x.T
    scores = products / math.sqrt(C)
    unscaled = products.masked_fill(future, -torch.inf).softmax(dim=-1)
    return {
        "sound": scores.masked_fill(future, -torch.inf).softmax(dim=-1),
        "no scale": unscaled,
        "divided by C": (products / C).masked_fill(future, -torch.inf).softmax(dim=-1),
        "scaled too late": unscaled / math.sqrt(C),
        "no mask": scores.softmax(dim=-1),
        "zero mask": scores.masked_fill(future, 0).softmax(dim=-1),
        "columns": scores.masked_fill(future, -torch.inf).softmax(dim=0),
    }


# "names the fault": in the last row nothing is hidden, so three of them look alike
def only_the_last_row_is_compared(x, weights):
    for name, suspect in seven(x).items():
        if torch.allclose(weights[-1], suspect[-1], rtol=1e-4):
            return name
    return "sound"


# "The weights carry rounding noise of less than a millionth of their value"
def a_tenth_is_near_enough(x, weights):
    for name, suspect in seven(x).items():
        if (weights - suspect).abs().max() < 0.1:
            return name
    return "sound"


# "softmax down the columns": step 2 is done before it
def columns_without_the_mask(x, weights):
    suspects = seven(x)
    suspects["columns"] = (x @ x.T / math.sqrt(x.shape[1])).softmax(dim=0)
    distances = {name: (weights - suspect).abs().sum() for name, suspect in suspects.items()}
    return min(distances, key=distances.get)


# 02/alike


# "Describe each word by how often it contains each of the 26 letters": only whether it does
def letters_there_or_not():
    return {"text": "shakespeare", "words": 4.807, "dot": 6.35, "cosine": 4.573}


# "the *other* word that is most like it": a word is its own best match
def words_found_themselves():
    return {"text": "shakespeare", "words": 4.807, "dot": 7.22, "cosine": 4.807}


WRITTEN = {
    "02/cosine": [
        lengths_clamped_at_one,
        second_sequence_divided_in_place,
        zeros_of_the_second_become_ones,
    ],
    "02/safe-softmax": [
        exponents_clamped,
        empty_if_the_first_is_hidden,
        a_hundredth_added_to_every_sum,
    ],
    "02/variance": [
        variances_of_the_products_added_up,
        variance_divided_by_the_root,
        last_entries_first,
    ],
    "02/evenness": [divisors_clamped_at_one, share_of_the_longest_row, perplexity_as_a_share],
    "02/smoother": [plain_mean_far_away, differences_added_then_squared, two_inside_the_square],
    "02/find-fault": [
        only_the_last_row_is_compared,
        a_tenth_is_near_enough,
        columns_without_the_mask,
    ],
    "02/alike": [letters_there_or_not, words_found_themselves],
}

ASIDE = {
    "lengths_clamped_at_one",
    "second_sequence_divided_in_place",
    "empty_if_the_first_is_hidden",
    "variance_divided_by_the_root",
    "perplexity_as_a_share",
    "only_the_last_row_is_compared",
    "a_tenth_is_near_enough",
    "words_found_themselves",
}
