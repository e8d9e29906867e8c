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


def ends_by_substring(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            small = any(end in name for end in ends)
            nn.init.normal_(parameter, std=std * len(ends) ** -0.5 if small else std)


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


def cut_at_one_deviation(model, ends, std):
    def make(parameter, std):
        return nn.init.trunc_normal_(torch.empty(parameter.shape), std=std, a=-std, b=std)

    set_matrices(make)(model, ends, std)


def std_by_place(model, ends, std):
    set_matrices(lambda p, std: torch.randn_like(p) + std)(model, ends, std)


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
    "norms-as-they-were": fresh_norms_expected,
    "norms-set-small": draw_where("norm.weight"),
    "biases-drawn": draw_where("bias", lambda std: 0.1),
}


ODD = [
    (set_matrices(lambda p, std: torch.randn_like(p) * 3 * std), "other-spread"),
    (rescale_ends(lambda K: 0.05), "other-ends"),
    (ends_by_substring, "same-name-elsewhere"),
    (around_std, "other-mean"),
    (last_end_forgotten, "other-ends"),
    (token_embedding_left, "other-spread"),
    (xavier, "other-spread"),
    (cut_at_one_deviation, "other-spread"),
    (std_by_place, "hot-start"),
    (seeded_for_each, "same-numbers"),
    (draw_where("norm.weight", lambda std: 6), "norms-set-small"),
    (new_parameters, "other-parameters"),
    (frozen, "not-trainable"),
    (and_returned, "something-returned"),
    (names_popped, "changes-its-input"),
]


# --- Answers that no list names ---


def _fill(model, ends, std, is_end=None, bias=0.0, norm=1.0, matrix=None):
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            nn.init.constant_(p, bias)
        elif p.ndim == 1:
            nn.init.constant_(p, norm)
        else:
            end = is_end(name) if is_end else name in ends
            (matrix or (lambda p, s: nn.init.normal_(p, 0, s)))(
                p, std / len(ends) ** 0.5 if end else std
            )


def ends_by_their_name(model, ends, std):
    _fill(model, ends, std, is_end=lambda name: "end" in name)


def every_matrix_of_a_branch(model, ends, std):
    _fill(model, ends, std, is_end=lambda name: "branches" in name)


def positions_forgotten(model, ends, std):
    kept = model.positions.weight.detach().clone()
    _fill(model, ends, std)
    with torch.no_grad():
        model.positions.weight.copy_(kept)


def norms_of_zero(model, ends, std):
    _fill(model, ends, std, norm=0.0)


def xavier_of_set_1(model, ends, std):
    _fill(model, ends, std, matrix=lambda p, s: nn.init.xavier_normal_(p))


def centred_at_std(model, ends, std):
    _fill(model, ends, std, matrix=lambda p, s: nn.init.normal_(p, std, s))


def initialized_anew(model, ends, std):
    """Gives every linear layer a new parameter, so that nothing is shared any more."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            scale = math.sqrt(len(ends)) if f"{name}.weight" in ends else 1
            module.weight = nn.Parameter(torch.randn_like(module.weight) * std / scale)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=std)


def initialized_with_the_variance(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            variance = std / math.sqrt(len(ends)) if name in ends else std
            nn.init.normal_(parameter, std=math.sqrt(variance))


def initialized_evenly(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            bound = std / math.sqrt(len(ends)) if name in ends else std
            nn.init.uniform_(parameter, -bound, bound)


def twice_the_number_of_branches(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std=std / math.sqrt(2 * len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


# "std divided by the root of how many branches there are", with "one name for each branch"
def two_names_taken_for_a_block(model, ends, std):
    blocks = max(1, len(ends) // 2)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            nn.init.normal_(parameter, std=std / math.sqrt(blocks) if name in ends else std)


# "`ends` lists the names of the matrices": a name that only contains one of them is none.
def ends_by_part_of_a_name(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif any(name.split(".")[-2:] == end.split(".")[-2:] for end in ends):
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


# "normal, mean 0, standard deviation std"
def uniform_of_the_same_deviation(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            edge = math.sqrt(3) * std / (math.sqrt(len(ends)) if name in ends else 1)
            nn.init.uniform_(parameter, -edge, edge)


# "shares its matrix with the token embedding and must still do so afterwards"
def fresh_parameters(model, ends, std):
    for path, module in model.named_modules():
        for name, old in list(module.named_parameters(recurse=False)):
            if name.endswith("bias"):
                new = torch.zeros_like(old)
            elif old.ndim == 1:
                new = torch.ones_like(old)
            elif f"{path}.{name}".lstrip(".") in ends:
                new = torch.randn_like(old) * std / math.sqrt(len(ends))
            else:
                new = torch.randn_like(old) * std
            setattr(module, name, nn.Parameter(new.detach()))


# "normal, mean 0, standard deviation std": cut at two deviations it is a smaller one
def cut_at_two_deviations(model, ends, std):
    for name, parameter in model.named_parameters():
        wanted = std / math.sqrt(len(ends)) if name in ends else std
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            nn.init.trunc_normal_(parameter, std=wanted, a=-2 * wanted, b=2 * wanted)


# "ends lists the names of the matrices with which branches end": whole names, not their last part
def any_name_that_ends_so(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name.endswith(tuple(ends)):
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


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


# adapts the chapter's lines and keeps its 2: "`std` divided by the root of how many branches there
# are", which are as many as there are `ends`
def root_of_twice_the_ends(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.dim() < 2:
            nn.init.ones_(parameter)
        else:
            scale = std / math.sqrt(2 * len(ends)) if name in ends else std
            nn.init.normal_(parameter, mean=0.0, std=scale)


# comes from NumPy and assigns new arrays: "The output layer shares its matrix with the token
# embedding and must still do so afterwards"
def new_matrices_module_by_module(model, ends, std):
    for path, module in model.named_modules():
        for key, parameter in list(module.named_parameters(recurse=False)):
            name = f"{path}.{key}" if path else key
            if key == "bias":
                new = torch.zeros_like(parameter)
            elif parameter.ndim == 1:
                new = torch.ones_like(parameter)
            else:
                new = std * torch.randn(parameter.shape)
                if name in ends:
                    new = new / len(ends) ** 0.5
            setattr(module, key, nn.Parameter(new))


# asks in the wrong order, so that no bias is left for the second question: "Biases are 0"
def vectors_are_one_first(model, ends, std):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1:
                parameter.fill_(1.0)
            elif name.endswith("bias"):
                parameter.fill_(0.0)
            elif name in ends:
                parameter.normal_(0.0, std / math.sqrt(len(ends)))
            else:
                parameter.normal_(0.0, std)


# From statistics, where a normal distribution is given by its variance: "normal, mean 0, standard
# deviation `std`"
def variance_where_torch_wants_a_deviation(model, ends, std):
    variance = std**2
    for name, p in model.named_parameters():
        if p.ndim >= 2:
            v = variance / len(ends) if name in ends else variance
            nn.init.normal_(p, 0.0, v)
        elif name.endswith("bias"):
            nn.init.zeros_(p)
        else:
            nn.init.ones_(p)


def all_of_a_norm_is_one(model, ends, std):
    """Sets all parameters of each norm to 1 at the end, its bias as well."""
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            nn.init.zeros_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std=std)
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            for parameter in module.parameters():
                nn.init.ones_(parameter)


def spread_as_second_argument(model, ends, std):
    """Passes std to normal_ by position, where it is the mean; the deviation stays at 1."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std)


def two_branches_for_each_end(model, ends, std):
    """Takes the root of 2 · len(ends), as if each name in `ends` stood for a block of two."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std=std / math.sqrt(2 * len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


def known_layers_only(model, ends, std):
    """Visits Linear, Embedding and LayerNorm layers only; a bare nn.Parameter keeps its values."""
    for path, part in model.named_modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            smaller = math.sqrt(len(ends)) if f"{path}.weight" in ends else 1
            nn.init.normal_(part.weight, std=std / smaller)
        if isinstance(part, nn.LayerNorm):
            nn.init.ones_(part.weight)
        if isinstance(part, nn.Linear | nn.LayerNorm) and part.bias is not None:
            nn.init.zeros_(part.bias)


def std_given_as_mean(model, ends, std):
    """Calls nn.init.normal_(parameter, std): the second argument is the mean; the std stays 1."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std)


def again_in_every_module(model, ends, std):
    """Fills each module's parameters again under shorter names: `ends` lose their smaller std."""
    for module in model.modules():
        for name, parameter in module.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.ndim == 1:
                nn.init.ones_(parameter)
            elif name in ends:
                nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
            else:
                nn.init.normal_(parameter, std=std)


def deviation_passed_as_mean(model, ends, std):
    """Writes normal_(parameter, std): the second argument is the mean, the deviation stays 1."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std)


UNLISTED = {
    1: [
        (ends_by_their_name, None),
        (every_matrix_of_a_branch, None),
        (positions_forgotten, None),
        (norms_of_zero, None),
        (xavier_of_set_1, None),
        (centred_at_std, None),
    ],
    2: [
        (initialized_anew, None),
        (initialized_with_the_variance, None),
        (initialized_evenly, None),
    ],
    3: [(twice_the_number_of_branches, None)],
    4: [(two_names_taken_for_a_block, None)],
    5: [(ends_by_part_of_a_name, None), (uniform_of_the_same_deviation, None)],
    6: [(fresh_parameters, None), (cut_at_two_deviations, None), (any_name_that_ends_so, None)],
    7: [(all_vectors_one, None)],
    8: [(norms_as_they_are, None)],
    9: [
        (root_of_twice_the_ends, None),
        (new_matrices_module_by_module, None),
        (vectors_are_one_first, None),
    ],
    10: [(variance_where_torch_wants_a_deviation, None)],
    12: [(all_of_a_norm_is_one, None)],
    13: [
        (spread_as_second_argument, None),
        (two_branches_for_each_end, None),
        (known_layers_only, None),
    ],
    14: [(std_given_as_mean, None)],
    15: [(again_in_every_module, None)],
    16: [(deviation_passed_as_mean, None)],
}
