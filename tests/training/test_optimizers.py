"""Muon's steps are orthogonal, and each optimizer gets the parameters it is good for."""

import pytest
import torch
from torch import nn

from course_lib import optimizers
from course_lib.errors import ConfigError
from course_lib.optimizers import Muon, orthogonalize


@pytest.mark.parametrize("shape", [(6, 6), (4, 16), (16, 4)])
def test_orthogonalized_matrices_keep_their_directions_and_even_out_their_sizes(shape):
    matrices = torch.randn(5, *shape)
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    found = orthogonalize(matrices, iterations=12)
    values = torch.linalg.svdvals(found)
    assert values.min() > 0.6
    assert values.max() < 1.3
    # u v is the orthogonal matrix nearest to each: the same directions
    overlap = (found * (u @ v)).sum((-2, -1)) / (found.norm(dim=(-2, -1)) * min(shape) ** 0.5)
    assert overlap.min() > 0.95


def test_a_gradient_of_zero_makes_a_step_of_zero():
    assert torch.equal(orthogonalize(torch.zeros(2, 3, 4)), torch.zeros(2, 3, 4))


def test_muon_steps_against_the_gradient_by_its_learning_rate():
    weight = nn.Parameter(torch.randn(8, 8))
    before = weight.detach().clone()
    weight.grad = torch.randn(8, 8)
    Muon([weight], lr=0.1).step()
    step = weight.detach() - before
    assert (step * weight.grad).sum() < 0
    assert 0.05 < torch.linalg.svdvals(step).max() < 0.13


def test_matrices_of_one_shape_step_together_as_they_would_alone():
    together = [nn.Parameter(torch.randn(4, 6)) for _ in range(3)]
    alone = [nn.Parameter(parameter.detach().clone()) for parameter in together]
    for a, b in zip(together, alone, strict=True):
        a.grad = torch.randn(4, 6)
        b.grad = a.grad.clone()
    Muon(together, lr=0.1, weight_decay=0.1).step()
    for b in alone:
        Muon([b], lr=0.1, weight_decay=0.1).step()
    for a, b in zip(together, alone, strict=True):
        torch.testing.assert_close(a, b)


def test_muon_decays_weights_by_their_share():
    weight = nn.Parameter(torch.randn(4, 6))
    before = weight.detach().clone()
    weight.grad = torch.zeros(4, 6)
    Muon([weight], lr=0.1, weight_decay=0.3).step()
    torch.testing.assert_close(weight.detach(), before * (1 - 0.1 * 0.3))


def test_muon_refuses_what_is_not_a_matrix():
    with pytest.raises(ConfigError, match=r"\(3,\)"):
        Muon([nn.Parameter(torch.zeros(3))])


@pytest.mark.parametrize("name", ["adamw", "muon", "sgd"])
def test_every_parameter_belongs_to_exactly_one_optimizer(build, name):
    model = build(n_layer=2)
    held = [
        id(parameter)
        for optimizer in optimizers.build(name, model, 0.01)
        for group in optimizer.param_groups
        for parameter in group["params"]
    ]
    assert sorted(held) == sorted(id(parameter) for parameter in model.parameters())


def test_muon_gets_the_matrices_inside_the_blocks_only(build):
    model = build(n_layer=2)
    adamw, muon = optimizers.build("muon", model, 0.01)
    shapes = {tuple(p.shape) for group in muon.param_groups for p in group["params"]}
    assert shapes == {(8, 16), (16, 16), (64, 16), (16, 64)}
    held = {id(p) for group in adamw.param_groups for p in group["params"]}
    assert id(model.embedding.tokens.weight) in held
    assert id(model.output.weight) in held


def test_biases_and_norms_are_not_decayed(build):
    (adamw,) = optimizers.build("adamw", build(n_layer=2), 0.01, weight_decay=0.3)
    for group in adamw.param_groups:
        assert {parameter.ndim >= 2 for parameter in group["params"]} == {
            group["weight_decay"] == 0.3
        }
