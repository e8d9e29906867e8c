"""Learning rates over time."""

from __future__ import annotations

import math


class LRScheduler:
    """Sets each group's learning rate after each step."""

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer, self.last_epoch = optimizer, last_epoch
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()

    def get_lr(self):
        raise NotImplementedError

    def get_last_lr(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, epoch=None):
        self.last_epoch += 1
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = rate

    def state_dict(self):
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        vars(self).update(state_dict)


class LambdaLR(LRScheduler):
    """The first rate times what a function says."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        many = isinstance(lr_lambda, list | tuple)
        n = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if many else [lr_lambda] * n
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * share(self.last_epoch) for base, share in pairs]


class _Factor(LRScheduler):
    """The first rate times a factor that depends on the step alone."""

    def factor(self, step):
        raise NotImplementedError

    def get_lr(self):
        return [base * self.factor(self.last_epoch) for base in self.base_lrs]


class LinearLR(_Factor):
    """From one factor to another in equal steps."""

    def __init__(self, optimizer, start_factor=1 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, step):
        share = min(step, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * share


class ConstantLR(_Factor):
    """A smaller rate for the first steps."""

    def __init__(self, optimizer, factor=1 / 3, total_iters=5, last_epoch=-1):
        self.first, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, step):
        return self.first if step < self.total_iters else 1.0


class StepLR(_Factor):
    """Smaller by a factor every so many steps."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, step):
        return self.gamma ** (step // self.step_size)


class MultiStepLR(_Factor):
    """Smaller by a factor at each milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, step):
        return self.gamma ** sum(step >= one for one in self.milestones)


class ExponentialLR(_Factor):
    """Smaller by a factor every step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def factor(self, step):
        return self.gamma**step


class CosineAnnealingLR(LRScheduler):
    """Down along half a cosine."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class OneCycleLR(LRScheduler):
    """Up to a largest rate, then down to nearly nothing."""

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        n = len(optimizer.param_groups)
        self.total_steps = total_steps or epochs * steps_per_epoch
        self.max_lrs = list(max_lr) if isinstance(max_lr, list | tuple) else [max_lr] * n
        self.pct_start, self.anneal_strategy = pct_start, anneal_strategy
        self.div_factor, self.final_div_factor = div_factor, final_div_factor
        for group, most in zip(optimizer.param_groups, self.max_lrs, strict=True):
            group["initial_lr"] = most / div_factor
            group["max_lr"], group["min_lr"] = most, most / div_factor / final_div_factor
        self.cycle_momentum = cycle_momentum
        self.base_momentum, self.max_momentum = base_momentum, max_momentum
        if cycle_momentum:
            groups = optimizer.param_groups
            if not any("momentum" in group or "betas" in group for group in groups):
                raise ValueError(
                    "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
                )
        super().__init__(optimizer, last_epoch)

    def _between(self, start, end, share):
        if self.anneal_strategy == "linear":
            return start + (end - start) * share
        return end + (start - end) * (1 + math.cos(math.pi * share)) / 2

    def get_lr(self):
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        top = self.pct_start * self.total_steps - 1
        rising = step <= top
        share = step / top if rising else (step - top) / (self.total_steps - 1 - top)
        if self.cycle_momentum:
            ends = (self.max_momentum, self.base_momentum)
            momentum = self._between(*(ends if rising else ends[::-1]), share)
            for group in self.optimizer.param_groups:
                if "betas" in group:
                    group["betas"] = (momentum, *group["betas"][1:])
                else:
                    group["momentum"] = momentum
        rates = []
        for most in self.max_lrs:
            first = most / self.div_factor
            ends = (first, most) if rising else (most, first / self.final_div_factor)
            rates.append(self._between(*ends, share))
        return rates


class SequentialLR:
    """One schedule after the other."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        self.optimizer, self.schedulers, self.milestones = optimizer, schedulers, milestones
        self.last_epoch = 0
        for group, base in zip(optimizer.param_groups, schedulers[0].base_lrs, strict=True):
            group["lr"] = base
        schedulers[0].last_epoch = -1
        schedulers[0].step()

    def step(self):
        self.last_epoch += 1
        place = sum(self.last_epoch >= one for one in self.milestones)
        chosen = self.schedulers[place]
        if place and self.last_epoch == self.milestones[place - 1]:
            chosen.last_epoch = -1
        chosen.step()

    def get_last_lr(self):
        return [group["lr"] for group in self.optimizer.param_groups]
