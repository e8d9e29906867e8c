"""Rules by which gradients change parameters."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from ..autograd import enable_grad, no_grad
from ..tensor import Tensor, wrap


class Optimizer:
    """Groups of parameters, their settings, and what is kept for each parameter."""

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {params.type()}"
            )
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        given = param_group["params"]
        held = [given] if isinstance(given, Tensor) else list(given)
        held = [one[1] if isinstance(one, tuple) else one for one in held]
        for one in held:
            if not isinstance(one, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is "
                    f"{type(one).__name__}"
                )
            if one._node is not None:
                raise ValueError("can't optimize a non-leaf Tensor")
        seen = {id(one) for group in self.param_groups for one in group["params"]}
        if any(id(one) in seen for one in held):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **param_group, "params": held})

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for one in group["params"]:
                if one.grad is not None:
                    if set_to_none:
                        one.grad = None
                    else:
                        one.grad.zero_()

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for one in group["params"]:
                    if one.grad is not None:
                        self._update(one._a, one.grad._a, self.state[one], group)
        return loss

    def _update(self, values, gradient, state, group):
        raise NotImplementedError

    def state_dict(self):
        numbers, groups = {}, []
        for group in self.param_groups:
            for one in group["params"]:
                numbers.setdefault(id(one), len(numbers))
            places = [numbers[id(one)] for one in group["params"]]
            groups.append({**group, "params": places})
        state = {
            numbers[id(one)]: {
                key: wrap(held) if isinstance(held, np.ndarray) else held
                for key, held in kept.items()
            }
            for one, kept in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        own = [one for group in self.param_groups for one in group["params"]]
        for group, given in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group.update({key: value for key, value in given.items() if key != "params"})
        for number, kept in state_dict["state"].items():
            self.state[own[number]] = {
                key: held._a.copy() if isinstance(held, Tensor) else held
                for key, held in kept.items()
            }

    def __repr__(self):
        return f"{type(self).__name__} ({len(self.param_groups)} groups)"


def _positive(name, value):
    if not value >= 0.0:
        raise ValueError(f"Invalid {name}: {value}")


class SGD(Optimizer):
    """Steps along the gradient, with momentum if it is asked for."""

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        **_,
    ):
        _positive("learning rate", lr)
        _positive("momentum value", momentum)
        _positive("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
            },
        )

    def _update(self, values, gradient, state, group):
        g = -gradient if group["maximize"] else gradient
        if group["weight_decay"]:
            g = g + group["weight_decay"] * values
        if group["momentum"]:
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = g.copy()
            else:
                kept = state["momentum_buffer"]
                kept *= group["momentum"]
                kept += (1 - group["dampening"]) * g
            kept = state["momentum_buffer"]
            g = g + group["momentum"] * kept if group["nesterov"] else kept
        values -= values.dtype.type(float(group["lr"])) * g


class Adam(Optimizer):
    """Steps of about equal length for all parameters."""

    decoupled = False
    decay = 0.0

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=None,
        amsgrad=False,
        *,
        maximize=False,
        **_,
    ):
        weight_decay = self.decay if weight_decay is None else weight_decay
        _positive("learning rate", lr)
        _positive("epsilon value", eps)
        _positive("weight_decay value", weight_decay)
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
            },
        )

    def _update(self, values, gradient, state, group):
        g = -gradient if group["maximize"] else gradient
        lr, decay = float(group["lr"]), group["weight_decay"]
        if decay and self.decoupled:
            values *= 1 - lr * decay
        elif decay:
            g = g + decay * values
        if not state:
            state["step"] = wrap(np.zeros((), np.float32))
            state["exp_avg"] = np.zeros_like(values)
            state["exp_avg_sq"] = np.zeros_like(values)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = np.zeros_like(values)
        state["step"] = (
            wrap(state["step"]._a + np.float32(1))
            if isinstance(state["step"], Tensor)
            else state["step"] + 1
        )
        step = float(state["step"])
        first, second = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean += (g - mean) * (1 - first)
        square *= second
        square += (1 - second) * g * g
        if group["amsgrad"]:
            np.maximum(state["max_exp_avg_sq"], square, out=state["max_exp_avg_sq"])
            square = state["max_exp_avg_sq"]
        root = np.sqrt(square) / math.sqrt(1 - second**step) + group["eps"]
        values -= (lr / (1 - first**step)) * mean / root


class AdamW(Adam):
    """Adam with weight decay apart from the gradient."""

    decoupled = True
    decay = 1e-2


class RMSprop(Optimizer):
    """Gradients over their running root mean square."""

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, **_):
        super().__init__(
            params,
            {
                "lr": lr,
                "alpha": alpha,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum": momentum,
            },
        )

    def _update(self, values, gradient, state, group):
        g = gradient + group["weight_decay"] * values
        square = state.setdefault("square_avg", np.zeros_like(values))
        square *= group["alpha"]
        square += (1 - group["alpha"]) * g * g
        move = g / (np.sqrt(square) + group["eps"])
        if group["momentum"]:
            kept = state.setdefault("momentum_buffer", np.zeros_like(values))
            kept *= group["momentum"]
            kept += move
            move = kept
        values -= values.dtype.type(group["lr"]) * move


class Adagrad(Optimizer):
    """Gradients over the root of the sum of their squares."""

    def __init__(self, params, lr=1e-2, eps=1e-10, **_):
        super().__init__(params, {"lr": lr, "eps": eps})

    def _update(self, values, gradient, state, group):
        total = state.setdefault("sum", np.zeros_like(values))
        total += gradient * gradient
        values -= values.dtype.type(group["lr"]) * gradient / (np.sqrt(total) + group["eps"])


from . import lr_scheduler  # noqa: E402

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
