"""Optimizers by name: AdamW, SGD, and Muon, which gives every matrix an orthogonal step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.errors import ConfigError

NAMES = ("adamw", "muon", "sgd")

# Coefficients of a polynomial of degree 5, from Jordan et al. Applied five times, it sends every
# singular value in (0, 1] close to 1.
_QUINTIC = (3.4445, -4.7750, 2.0315)


def build(
    name: str,
    model: nn.Module,
    lr: float,
    *,
    betas: tuple[float, float] = (0.9, 0.99),
    weight_decay: float = 0.01,
    muon_lr: float = 0.02,
) -> list[torch.optim.Optimizer]:
    """The optimizers that train a model, each with the parameters it is good for.

    Parameters
    ----------
    name : {"adamw", "muon", "sgd"}
        "muon": Muon for the matrices between embedding and output, AdamW for everything else.
    model : nn.Module
        The model; its parameters must already be on their device.
    lr : float
        Learning rate of AdamW or SGD.
    betas : (float, float)
        AdamW's decay rates.
    weight_decay : float
        Applied to matrices, not to biases and norms.
    muon_lr : float
        Learning rate of Muon: the spectral norm of a step, before its scaling by shape.

    Returns
    -------
    list of Optimizer
        One, or for "muon" two.

    Raises
    ------
    ConfigError
        If the name or a number is not one that an optimizer can work with.
    """
    if name not in NAMES:
        raise ConfigError(f"optimizer = {name!r}: known are {', '.join(map(repr, NAMES))}")
    for setting, value in (("lr", lr), ("muon_lr", muon_lr)):
        if not 0 < value < float("inf"):
            raise ConfigError(f"{setting} = {value}: must be above 0 and finite")
    if not 0 <= weight_decay < float("inf"):
        raise ConfigError(f"weight_decay = {weight_decay}: must be at least 0 and finite")
    if not all(0 <= beta < 1 for beta in betas):
        raise ConfigError(f"betas = {betas}: both must be at least 0 and below 1")
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if name == "sgd":
        return [torch.optim.SGD(parameters, lr=lr, weight_decay=weight_decay)]
    hidden = _hidden_matrices(model) if name == "muon" else []
    taken = {id(parameter) for parameter in hidden}
    rest = [parameter for parameter in parameters if id(parameter) not in taken]
    groups: list[dict[str, Any]] = [
        {"params": [p for p in rest if p.ndim >= 2], "weight_decay": weight_decay},
        {"params": [p for p in rest if p.ndim < 2], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    # `fused` updates all parameters in one kernel, instead of a dozen small ones for each.
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.AdamW(groups, lr=lr, betas=betas, fused=True)
    ]
    if hidden:
        optimizers.append(Muon(hidden, lr=muon_lr, weight_decay=weight_decay))
    return optimizers


class Muon(torch.optim.Optimizer):
    """Momentum whose step is made orthogonal: every direction of a matrix moves equally far.

    `torch.optim.Muon` reaches the same losses with one matrix after the other. Here matrices of one
    shape step together, which takes less time where matrices are as small as in this course.

    Parameters
    ----------
    parameters : iterable of (m, n) Parameter
        Matrices between embedding and output layer.
    lr : float
        Length of a step: its spectral norm, times √max(1, m / n).
    momentum : float
        Decay of the running mean of gradients; the step looks one gradient ahead (Nesterov).
    weight_decay : float
        Share of the weights, times lr, that each step takes away.
    iterations : int
        Newton–Schulz iterations.

    Raises
    ------
    ConfigError
        If a parameter is not a matrix.

    Source: Jordan et al. (2024), *Muon: an optimizer for hidden layers in neural networks*.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        lr: float = 0.02,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        iterations: int = 5,
    ):
        parameters = list(parameters)
        for parameter in parameters:
            if parameter.ndim != 2:
                raise ConfigError(
                    f"Muon got a parameter of shape {tuple(parameter.shape)}: only matrices have "
                    "an orthogonal form; give the rest to AdamW"
                )
        settings = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "iterations": iterations,
        }
        super().__init__(parameters, settings)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step of every matrix that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            for parameter in parameters:
                if "momentum" not in self.state[parameter]:
                    self.state[parameter]["momentum"] = torch.zeros_like(parameter)
            gradients = [parameter.grad for parameter in parameters]
            kept = [self.state[parameter]["momentum"] for parameter in parameters]
            if not parameters:
                continue
            torch._foreach_lerp_(kept, gradients, 1 - group["momentum"])
            ahead = torch._foreach_lerp(gradients, kept, group["momentum"])
            if group["weight_decay"]:
                torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
            for shape in {parameter.shape for parameter in parameters}:
                alike = [i for i, parameter in enumerate(parameters) if parameter.shape == shape]
                stacked = torch.stack([ahead[i] for i in alike])  # K × (m, n) → (K, m, n)
                steps = orthogonalize(stacked, group["iterations"])
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                torch._foreach_add_(
                    [parameters[i] for i in alike],
                    list(steps.unbind()),
                    alpha=-group["lr"] * scale,
                )
        return loss


def orthogonalize(matrices: Tensor, iterations: int = 5) -> Tensor:
    """Matrices with the same singular vectors and all singular values near 1.

    Parameters
    ----------
    matrices : (K, m, n) float
        One matrix in each row of the batch.
    iterations : int
        Newton–Schulz iterations; five bring singular values into about 0.7 … 1.2.

    Returns
    -------
    (K, m, n) float
        U Vᵀ, roughly, where a matrix is U S Vᵀ. A matrix of zeros stays one.

    Source: Jordan et al. (2024); Björck and Bowie (1971) for the iteration.
    """
    a, b, c = _QUINTIC
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)  # all singular values in (0, 1]
    for _ in range(iterations):
        gram = x @ x.mT  # (K, m, m), m the smaller size
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def _hidden_matrices(model: nn.Module) -> list[nn.Parameter]:
    """Weights of linear layers that lie inside blocks: neither embedding nor output layer."""
    blocks = getattr(model, "blocks", None)
    if not isinstance(blocks, nn.Module):
        raise ConfigError(
            f"optimizer = 'muon' with a {type(model).__name__}: Muon is for the matrices inside "
            "the blocks of a GPT, and this model has none; use 'adamw'"
        )
    return [parameter for parameter in blocks.parameters() if parameter.ndim == 2]
