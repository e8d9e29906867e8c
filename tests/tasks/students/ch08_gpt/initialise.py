"""Students' answers to 08/initialise."""

import math

import numpy as np
import torch
from torch import nn


@torch.no_grad()
def initialise_by_modules(model, ends, std):
    for name, part in model.named_modules():
        if isinstance(part, nn.Linear):
            s = std * len(ends) ** -0.5 if f"{name}.weight" in ends else std
            part.weight.copy_(torch.randn(part.weight.shape) * s)
            part.bias.zero_()
        elif isinstance(part, nn.Embedding):
            part.weight.normal_(0, std)
        elif isinstance(part, nn.LayerNorm):
            part.reset_parameters()
    model.positions.normal_(0, std)


def initialise_in_two_passes(model, ends, std):
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.data.normal_(mean=0.0, std=std)
        else:
            parameter.data.zero_()
    for part in model.modules():
        if isinstance(part, nn.LayerNorm):
            nn.init.constant_(part.weight, 1.0)
    for name in ends:
        model.get_parameter(name).data /= math.sqrt(len(ends))


def initialise_in_numpy(model, ends, std):
    rng = np.random.default_rng(0)
    for name, parameter in model.named_parameters():
        if "norm.weight" in name:
            value = np.ones(parameter.shape)
        elif "bias" in name:
            value = np.zeros(parameter.shape)
        else:
            value = rng.normal(0, std / (len(ends) ** 0.5 if name in ends else 1), parameter.shape)
        parameter.data.copy_(torch.from_numpy(value))


def after_right(change):
    """Right first, then one thing spoilt."""

    def answer(model, ends, std):
        initialise_by_modules(model, ends, std)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                change(name, parameter, ends, std)

    return answer


def local_names_only(model, ends, std):
    for parameter in model.parameters():
        parameter = torch.randn_like(parameter) * std


def set_matrices(make):
    def change(name, parameter, ends, std):
        if parameter.ndim == 2:
            parameter.copy_(make(parameter, std) * (len(ends) ** -0.5 if name in ends else 1))

    return after_right(change)


def apply_to_linear(model, ends, std):
    def visit(part):
        if isinstance(part, nn.Linear) and part is not model.output:
            nn.init.normal_(part.weight, 0.0, std)
            nn.init.zeros_(part.bias)
        if isinstance(part, nn.LayerNorm):
            part.reset_parameters()

    model.apply(visit)
    nn.init.zeros_(model.output.bias)
    with torch.no_grad():
        for name in ends:
            model.get_parameter(name).mul_(len(ends) ** -0.5)


def new_output_layer(model, ends, std):
    initialise_in_two_passes(model, ends, std)
    fresh = nn.Linear(model.output.in_features, model.output.out_features)
    nn.init.normal_(fresh.weight, std=std)
    nn.init.zeros_(fresh.bias)
    model.output = fresh


def rescale_ends(factor):
    def change(name, parameter, ends, std):
        if name in ends:
            parameter.mul_(len(ends) ** 0.5 * factor(len(ends)))

    return after_right(change)


def draw_where(part, std_of=lambda std: std):
    def change(name, parameter, ends, std):
        if part in name:
            parameter.normal_(0, std_of(std))

    return after_right(change)


def initialise_by_last_names(model, ends, std):
    layer = ends[0].split(".")[-2]
    initialise_in_two_passes(model, [n for n, _ in model.named_parameters() if n in ends], std)
    for name, part in model.named_modules():
        if name.endswith(f".{layer}") and f"{name}.weight" not in ends:
            part.weight.data /= math.sqrt(len(ends))


def around_std(model, ends, std):
    set_matrices(lambda p, std: (torch.randn_like(p) + 1) * std)(model, ends, std)


def last_end_forgotten(model, ends, std):
    initialise_by_modules(model, ends, std)
    model.get_parameter(ends[-1]).data.normal_(0, std)


def new_parameters(model, ends, std):
    initialise_by_modules(model, ends, std)
    for part in model.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            part.weight = nn.Parameter(part.weight.detach().clone())
    model.output.weight = model.tokens.weight


def frozen(model, ends, std):
    model.requires_grad_(False)
    initialise_in_two_passes(model, ends, std)


def and_returned(model, ends, std):
    initialise_in_two_passes(model, ends, std)
    return model


def position_embedding_left(model, ends, std):
    left = model.positions.detach().clone()
    initialise_by_modules(model, ends, std)
    model.positions.data.copy_(left)


def token_embedding_left(model, ends, std):
    left = model.tokens.weight.detach().clone()
    initialise_by_modules(model, ends, std)
    model.tokens.weight.data.copy_(left)


def xavier(model, ends, std):
    initialise_by_modules(model, ends, std)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2 and name not in ends:
            nn.init.xavier_normal_(parameter)


def seeded_for_each(model, ends, std):
    for name, parameter in model.named_parameters():
        torch.manual_seed(1)
        if parameter.ndim == 2:
            nn.init.normal_(parameter, std=std / (len(ends) if name in ends else 1) ** 0.5)
        else:
            nn.init.constant_(parameter, not name.endswith("bias"))


def names_popped(model, ends, std):
    initialise_by_modules(model, list(ends), std)
    while ends:
        ends.pop()


# a norm is 1 and 0 by default
def fresh_norms_expected(model, ends, std):
    for name, part in model.named_modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(
                part.weight, 0, std / (len(ends) if f"{name}.weight" in ends else 1) ** 0.5
            )
        if isinstance(part, nn.Linear):
            nn.init.zeros_(part.bias)
    nn.init.normal_(model.positions, 0, std)


@torch.no_grad()
def ends_and_nothing_else(model, ends, std):
    for name, parameter in model.named_parameters():
        if name in ends:
            parameter.copy_(torch.randn(parameter.shape) * std * len(ends) ** -0.5)


def small_everywhere(where):
    def change(name, parameter, ends, std):
        if parameter.ndim == 2:
            scale = len(ends) ** -0.5 if where(name in ends) else 1
            parameter.copy_(torch.randn_like(parameter) * std * scale)

    return after_right(change)


@torch.no_grad()
def variances_everywhere(model, ends, std):
    initialise_by_modules(model, ends, std)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2:
            variance = std * std / (len(ends) if name in ends else 1)
            parameter.copy_(variance * torch.randn(parameter.shape))


RIGHT = {
    "modules": initialise_by_modules,
    "two passes": initialise_in_two_passes,
    "numpy": initialise_in_numpy,
}


WRONG = {
    "not-normal": set_matrices(lambda p, std: (2 * torch.rand_like(p) - 1) * 3**0.5 * std),
    "untouched": local_names_only,
    "hot-start": set_matrices(lambda p, _: torch.randn_like(p)),
    "all-zero": set_matrices(lambda p, _: torch.zeros_like(p)),
    "variance-given": variances_everywhere,
    "variance-for-deviation": set_matrices(lambda p, std: torch.randn_like(p) * std**0.5),
    "uniform-of-that-width": set_matrices(lambda p, std: (2 * torch.rand_like(p) - 1) * std),
    "embeddings-forgotten": apply_to_linear,
    "untied": new_output_layer,
    "ends-not-scaled": rescale_ends(lambda K: 1.0),
    "same-name-elsewhere": initialise_by_last_names,
    "divided-by-the-count": rescale_ends(lambda K: 1 / K),
    "parameter-of-no-layer": position_embedding_left,
    "one-branch-more": rescale_ends(lambda K: (K + 1) ** -0.5),
    "one-branch-fewer": rescale_ends(lambda K: (K - 1) ** -0.5),
    "counted-twice": rescale_ends(lambda K: 1 / math.sqrt(2 * K)),
    "multiplied-by-the-root": rescale_ends(lambda K: math.sqrt(K)),
    "ends-alone": ends_and_nothing_else,
    "chapters-deviation": set_matrices(lambda p, _: 0.02 * torch.randn_like(p)),
    "all-divided": small_everywhere(lambda is_end: True),
    "others-divided": small_everywhere(lambda is_end: not is_end),
    "norms-set-small": draw_where("norm.weight"),
    "biases-drawn": draw_where("bias", lambda std: 0.1),
}


ODD = [
    (set_matrices(lambda p, std: torch.randn_like(p) * 3 * std), "other-spread"),
    (rescale_ends(lambda K: 0.05), "other-ends"),
    (around_std, "other-mean"),
    (last_end_forgotten, "other-ends"),
    (token_embedding_left, "other-spread"),
    (fresh_norms_expected, "norms-set-small"),
    (xavier, "other-spread"),
    (seeded_for_each, "same-numbers"),
    (draw_where("norm.weight", lambda std: 6), "norms-set-small"),
    (new_parameters, "other-parameters"),
    (frozen, "not-trainable"),
    (and_returned, "something-returned"),
    (names_popped, "changes-its-input"),
]


# --- Answers that no list names ---


def positions_of_no_layer(model, ends, std):
    for part in (model.tokens, model.positions):
        nn.init.normal_(part.weight, std=std)


def norms_of_zero(model, ends, std):
    after_right(lambda name, p, ends, std: p.zero_() if p.ndim == 1 else p)(model, ends, std)


# Asks for the number of axes first, and never gets to the biases.
# "Biases are 0"
def all_vectors_one(model, ends, std):
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1:
                p.fill_(1.0)
            elif name in ends:
                p.normal_(0.0, std / len(ends) ** 0.5)
            elif "bias" in name:
                p.zero_()
            else:
                p.normal_(0.0, std)


# Went through the modules as many repositories do; a norm "is 1 and 0 by default".
# "norms start with weights of 1", and "Biases are 0": not if the model was trained before
def norms_as_they_are(model, ends, std):
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, mean=0.0, std=std)
    for name, parameter in model.named_parameters():
        if name in ends:
            nn.init.normal_(parameter, mean=0.0, std=std / math.sqrt(len(ends)))


UNLISTED = {
    1: [(positions_of_no_layer, "error"), (norms_of_zero, "norms-set-small")],
    7: [(all_vectors_one, "biases-drawn")],
    8: [(norms_as_they_are, "parameter-of-no-layer")],
}
