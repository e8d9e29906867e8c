"""Students' answers to 04/sample."""

import numpy as np
import torch
import torch.nn.functional as F

from students.ch04_bigram.shared import sample_by_cumulative_sum, sample_by_gumbel


def sample_by_loop(logits, temperature, generator):
    drawn = []
    for row in logits:
        if temperature == 0:
            drawn.append(int(row.argmax()))
        else:
            weights = torch.exp((row - row.max()) / temperature)
            drawn.append(torch.multinomial(weights, 1, generator=generator).item())
    return drawn


def sample_in_numpy(logits, temperature, generator):
    if temperature < 1e-9:
        return np.argmax(logits.numpy(), axis=1)
    rng = np.random.default_rng(torch.randint(2**31, (1,), generator=generator).item())
    z = logits.numpy() / temperature
    e = np.exp(z - z.max(axis=1, keepdims=True))
    reached = np.cumsum(e / e.sum(1, keepdims=True), axis=1)
    return np.minimum((reached < rng.random((len(e), 1))).sum(1), e.shape[1] - 1)


# A product of the floats that are given with floats of one's own
def sample_by_triangle(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=1)
    V = logits.shape[1]
    reached = torch.softmax(logits / temperature, dim=1) @ torch.ones(V, V).triu()
    reached = reached / reached[:, -1:]
    return (reached <= torch.rand(len(logits), 1, generator=generator)).sum(dim=1)


def most_likely(logits, temperature, generator):
    return torch.topk(logits, 1).indices[:, 0]


def one_uniform(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    number = torch.rand((), generator=generator).item()
    reached = (logits / temperature).softmax(-1).cumsum(-1)
    return torch.tensor([int((row < number).sum().clamp(max=len(row) - 1)) for row in reached])


def hotter_is_colder(logits, temperature, generator):
    weights = (logits * temperature).softmax(-1) if temperature else (logits * 1e9).softmax(-1)
    return torch.multinomial(weights, 1, generator=generator).flatten()


def divided_probabilities(logits, temperature, generator):
    if not temperature:
        return logits.argmax(-1)
    weights = logits.softmax(-1) / temperature
    return torch.multinomial(weights, 1, generator=generator)[:, 0]


def row_zero(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    p = (logits[0] / temperature).softmax(-1)
    return torch.multinomial(p, len(logits), replacement=True, generator=generator)


def softmax_dim_zero(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    return torch.multinomial(F.softmax(logits / temperature, 0), 1, generator=generator)[:, 0]


def probabilities_for_logits(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    p = (logits / temperature).softmax(-1)
    return sample_by_gumbel(p, 1.0, generator)


def global_generator(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    return torch.distributions.Categorical(logits=logits / temperature).sample()


def seeds_itself(logits, temperature, generator):
    generator.manual_seed(1337)
    return sample_by_cumulative_sum(logits, temperature, generator)


def zero_not_thought_of(logits, temperature, generator):
    reached = (logits / temperature).softmax(-1).cumsum(-1)
    number = torch.rand(len(logits), 1, generator=generator)
    return (reached < number).sum(-1).clamp(max=logits.shape[1] - 1)


def uniform_whatever(logits, temperature, generator):
    return torch.randint(logits.shape[1], (len(logits),), generator=generator)


# "from softmax(logits / temperature)", however low it is
def cold_below_a_tenth(logits, temperature, generator):
    if temperature < 0.1:
        return logits.max(dim=-1).indices
    return sample_by_cumulative_sum(logits, temperature, generator)


RIGHT = {
    "cumulative sum": sample_by_cumulative_sum,
    "Gumbel": sample_by_gumbel,
    "loop": sample_by_loop,
    "numpy": sample_in_numpy,
    "triangle": sample_by_triangle,
}


# "Temperature 0 takes the most likely symbol", of one row, too, and beside one that is nearly as
# likely
def hardly_warm(logits, temperature, generator):
    weights = (logits / max(temperature, 1e-2)).softmax(-1)
    return torch.multinomial(weights, 1, generator=generator)[:, 0]


def values_of_the_largest(logits, temperature, generator):
    if temperature == 0:
        return logits.max(dim=-1)[0]
    return sample_by_cumulative_sum(logits, temperature, generator)


def energies(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    return sample_by_cumulative_sum(-logits, temperature, generator)


def place_in_the_sorted_row(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    ranked, _ = (logits / temperature).softmax(-1).sort(-1, descending=True)
    return torch.multinomial(ranked, 1, generator=generator)[:, 0]


def place_from_the_smallest(logits, temperature, generator):
    return sample_by_cumulative_sum(
        logits.sort(-1).values if temperature else logits, temperature, generator
    )


def weights_by_hand(logits, temperature, generator):
    """Takes e to the power of numbers that may be in the hundreds."""
    if temperature == 0:
        return logits.argmax(1)
    weights = np.e ** (logits / temperature)
    return torch.multinomial(weights / weights.sum(1, keepdim=True), 1, generator=generator)[:, 0]


def lowest_in_place_of_nothing(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(1)
    weights = (logits.clamp(min=-100) / temperature).softmax(1)
    return torch.multinomial(weights, 1, generator=generator)[:, 0]


def sample_without_the_last(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    p = (logits[:, :-1] / temperature).softmax(-1)
    return torch.multinomial(p, 1, generator=generator)[:, 0]


def sample_of_two(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    top = logits.topk(2, dim=-1)
    i = torch.multinomial(
        (top.values / temperature).softmax(-1).nan_to_num(), 1, generator=generator
    )
    return top.indices.gather(1, i)[:, 0]


WRONG = {
    "last-symbol-left-out": sample_without_the_last,
    "likeliest-alone": sample_of_two,
    "hidden-symbol-drawn": lowest_in_place_of_nothing,
    "overflow-when-cool": weights_by_hand,
    "column-returned": lambda z, t, g: torch.as_tensor(sample_by_loop(z, t, g)).view(-1, 1),
    "rank-for-symbol": place_in_the_sorted_row,
    "largest-logit-returned": values_of_the_largest,
    "sign-turned": energies,
    "logits-ignored": uniform_whatever,
    "argmax-for-sampling": most_likely,
    "one-draw-for-all": one_uniform,
    "temperature-multiplied": hotter_is_colder,
    "temperature-ignored": divided_probabilities,
    "reads-first-logits": row_zero,
    "softmax-over-batch": softmax_dim_zero,
    "softmax-twice": probabilities_for_logits,
    "generator-ignored": global_generator,
    "seed-fixed-inside": seeds_itself,
    "cold-too-early": cold_below_a_tenth,
    "divides-by-zero": zero_not_thought_of,
    "cold-takes-another": hardly_warm,
    "another-temperature": lambda logits, temperature, generator: sample_by_gumbel(
        logits, temperature + 0.2 * (temperature > 0.1), generator
    ),
}


def squeezed_when_cold(logits, temperature, generator):
    if temperature == 0:
        return logits.topk(1).indices.squeeze()
    return sample_by_cumulative_sum(logits, temperature, generator)


# "A logit may be −∞; that symbol is never drawn"
def nothing_is_zero_when_cold(logits, temperature, generator):
    if temperature == 0:
        return torch.where(logits.isinf(), 0.0, logits).argmax(-1)
    return sample_by_cumulative_sum(logits, temperature, generator)


def sigmoids_for_weights(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    return torch.multinomial((logits / temperature).sigmoid(), 1, generator=generator)[:, 0]


ODD = [
    (place_from_the_smallest, "rank-for-symbol"),
    (squeezed_when_cold, "shape"),
    (nothing_is_zero_when_cold, "cold-takes-another"),
    (sigmoids_for_weights, "wrong-frequencies"),
    (lambda z, t, g: sample_by_loop(z, t, g)[:-1], "last-missing"),
    (lambda z, t, g: (z / (t or 1)).softmax(-1).amax(-1), "no-such-symbol"),
]


# --- Answers that no list names ---


def sample_coldest(logits, temperature, generator):
    if temperature == 0:
        return logits.argmin(-1)
    p = (logits / temperature).softmax(-1)
    return torch.multinomial(p, 1, generator=generator)[:, 0]


def draw_nearly_greedily_at_zero(logits, temperature, generator):
    probabilities = (logits / (temperature + 0.1)).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)


UNLISTED = {
    1: [
        (sample_coldest, "cold-takes-another"),
    ],
    2: [(draw_nearly_greedily_at_zero, "another-temperature")],
}
