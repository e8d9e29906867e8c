"""Expressions that PyTorch and its twin have to answer alike, and what each gives, as JSON."""

import json
import warnings

import numpy as np  # noqa: F401  (for the expressions)
import torch
import torch.nn.functional as F  # noqa: F401
from torch import nn  # noqa: F401

VALUES = [
    "torch.arange(3) / 2",
    "torch.ones(2, dtype=torch.int64) + 1.5",
    "torch.tensor([1, 2]) + torch.tensor(1.5, dtype=torch.float64)",
    "torch.ones(3) * torch.tensor(2.0, dtype=torch.float64)",
    "torch.tensor([True, False]).sum()",
    "-7 // torch.tensor([2, -2])",
    "torch.tensor([-7, 7]) % 3",
    "torch.tensor(5) / torch.tensor(2)",
    "torch.zeros(2, 3, 4)[0, :, torch.tensor([0, 1])].shape",
    "torch.zeros(2, 3, 4)[:, torch.tensor(1), None].shape",
    "torch.zeros(2, 3, 4)[torch.tensor([0, 1]), :, torch.tensor([0, 1])].shape",
    "torch.arange(12).reshape(3, 4)[torch.tensor([True, False, True])]",
    "torch.tensor([3.0, 1.0, 3.0]).sort(descending=True)",
    "torch.tensor([3.0, 1.0, 2.0, 0.0]).median()",
    "torch.tensor([1.0, 2.0, 4.0]).std()",
    "torch.tensor([[1.0, 5.0], [3.0, 2.0]]).max(dim=1)",
    "torch.zeros(0, 7).amax(dim=-1, keepdim=True).shape",
    "torch.zeros(2, 0).amin(dim=0).shape",
    "torch.tensor([1.0, float('nan')]).nan_to_num(7.0)",
    "torch.arange(6.0).unfold(0, 3, 2)",
    "torch.arange(7).chunk(3)[-1]",
    "torch.arange(7).tensor_split(3)[0]",
    "F.pad(torch.ones(2, 3), (1, -1, 0, 2), value=5.0)",
    "F.one_hot(torch.tensor([0, 2]))",
    "torch.einsum('bij,bkj->bik', torch.ones(2, 3, 4), torch.ones(2, 5, 4)).shape",
    "torch.einsum('btc,chd->bhtd', torch.ones(1, 2, 3), torch.arange(12.0).view(3, 2, 2))",
    "torch.einsum('bthd,bshd->bhts', *[torch.arange(24.0).view(2, 3, 2, 2) / 9] * 2)",
    "torch.einsum('...ij,kj->k...i', torch.arange(12.0).view(2, 2, 3), torch.eye(3)[:2])",
    "torch.einsum('ij,kj->i', torch.arange(6.0).view(2, 3), torch.ones(2, 3))",
    "torch.einsum('ij,kj->ik', torch.arange(6.0).view(2, 3), torch.ones(2, 1))",
    "torch.einsum('ii,ij->ij', torch.arange(4.0).view(2, 2), torch.ones(2, 2))",
    "torch.einsum('i,j->ji', torch.arange(3.0), torch.arange(2.0))",
    "torch.full((2,), True).dtype",
    "torch.where(torch.ones(2) > 0, 1.0, 2)",
    "str(torch.tensor([1.5, 1e10]))",
    "str(torch.arange(4).reshape(2, 2))",
    "str(torch.tensor([[0.0, -torch.inf], [0.0, 0.0]]))",
    "str(torch.tensor([1.0, -torch.inf, 0.0]))",
    "str(torch.tensor([0.25, -torch.inf, -12.5]))",
    "str(torch.tensor([-1.0, 20.0, torch.nan]))",
    "str(torch.tensor([1e-6, torch.inf]))",
    "str(torch.ones(2, dtype=torch.float64, requires_grad=True))",
    "torch.manual_seed(3) and torch.randn(5)",
    "torch.manual_seed(3) and torch.randn(2, 11)",
    "torch.manual_seed(3) and torch.rand(7, dtype=torch.float64)",
    "torch.manual_seed(3) and torch.randint(3, 99, (2, 4))",
    "torch.manual_seed(3) and torch.randperm(20)",
    "torch.manual_seed(3) and torch.multinomial(torch.tensor([0.2, 0.3, 0.5]), 9, True)",
    "torch.manual_seed(3) and nn.Linear(3, 2).bias",
    "torch.manual_seed(3) and nn.Embedding(4, 5).weight",
]
"""Each gives a value."""

GRADIENTS = [
    "(x @ x.mT).softmax(-1).square().sum()",
    "F.layer_norm(x, (3,)).pow(3).sum()",
    "F.cross_entropy(x, torch.tensor([0, 2]))",
    "F.gelu(x).sum() + F.silu(x).mean() + F.softplus(x).sum()",
    "x.std(dim=1).sum() + x.norm() + x.logsumexp(0).sum()",
    "x.cumsum(1).prod(1).sum()",
    "x[:, torch.tensor([0, 0, 2])].square().sum()",
    "torch.cat([x, x.flip(1)]).masked_fill(torch.tensor([True, False, True]), 2.0).exp().sum()",
    "F.scaled_dot_product_attention(x, x, x, is_causal=True).square().sum()",
    "x.clamp(0.3, 0.7).sum() + torch.maximum(x, x.flip(0)).square().sum()",
    "F.normalize(x, dim=1).square().mul(torch.arange(3.0)).sum()",
    "torch.einsum('ij,kj,ik->', x, x, x @ x.T)",
    "torch.einsum('ij,kj->ki', x, x[:1] * 2).square().sum()",
    "torch.einsum('bij,bkj->kb', x.view(2, 1, 3), x.view(2, 1, 3).exp()).sum()",
    "x.gather(1, torch.tensor([[0, 0], [2, 1]])).square().sum()",
]
"""Each is a number that follows from `x` (2, 3)."""

ERRORS = [
    "torch.ones(2, 3) @ torch.ones(2, 3)",
    "torch.ones(2, 3) + torch.ones(2)",
    "torch.ones(2, 3).reshape(7)",
    "torch.ones(2, 3)[5]",
    "torch.ones(2, 3)[0, 0, 0]",
    "torch.cat([torch.ones(2, 3), torch.ones(2, 2)])",
    "torch.stack([torch.ones(2), torch.ones(3)])",
    "torch.ones(3).item()",
    "bool(torch.ones(3))",
    "torch.ones(2, 3).softmax(3)",
    "torch.arange(3).mean()",
    "torch.ones(2, 3).T.contiguous().T.view(6)",
    "torch.ones(3, requires_grad=True).numpy()",
    "torch.tensor([[1, 2], [3]])",
    "torch.arange(3) ** -1",
    "~torch.ones(2)",
    "torch.tensor([True]) - torch.tensor([True])",
    "nn.Linear(2, 3)(torch.ones(4, 4))",
    "F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 5]))",
    "F.embedding(torch.tensor([5]), torch.ones(3, 2))",
    "torch.multinomial(torch.zeros(3), 1)",
    "torch.ones(3).expand(2, 4)",
    "torch.exp(np.ones(3))",
    "torch.ones(2) + 'a'",
    "np.ones(3) @ torch.ones(3)",
    "torch.ones(3)[::-1]",
    "nn.Module()(1)",
    "torch.ones(2, requires_grad=True).add_(1)",
    "(y := torch.ones(2, requires_grad=True).exp().sum()).backward() or y.backward()",
]
"""Each raises."""


def plain(value):
    """A value with its type and shape, as JSON has it."""
    if isinstance(value, tuple) and not isinstance(value, torch.Size):
        return [plain(one) for one in value]
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), list(value.shape), value.detach().tolist()]
    return list(value) if isinstance(value, torch.Size) else str(value)


def gradient(expression):
    """The derivative by x."""
    x = torch.linspace(0.1, 1.2, 6).reshape(2, 3).requires_grad_()
    eval(expression, globals(), {"x": x}).backward()
    return plain(x.grad)


def error(expression):
    """What an expression raises."""
    try:
        return f"no error, but {eval(expression)}"
    except Exception as raised:
        return [type(raised).__name__, str(raised)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({one: plain(eval(one)) for one in VALUES}))
    print(json.dumps({one: gradient(one) for one in GRADIENTS}))
    print(json.dumps({one: error(one) for one in ERRORS}))
