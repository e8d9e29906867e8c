"""Students' answers to 04/sgd-step."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def descend_by_hand(table, x, y, learning_rate, steps):
    table, x, y = table.clone(), x.reshape(-1), y.reshape(-1)
    losses = []
    for _ in range(steps):
        p = table[x].softmax(-1)
        losses.append(-p[torch.arange(len(y)), y].log().mean().item())
        delta = (p - F.one_hot(y, table.shape[1])) / len(y)
        table.index_add_(0, x, delta, alpha=-learning_rate)
    return table, losses


def descend_by_optimizer(table, x, y, learning_rate, steps):
    layer = nn.Embedding.from_pretrained(table, freeze=False)
    optimizer = torch.optim.SGD(layer.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(layer(x).transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return layer.weight, losses


def descend_with_backward(table, x, y, learning_rate, steps):
    weights = table.double().requires_grad_(True)
    losses = torch.zeros(steps)
    for step in range(steps):
        loss = F.cross_entropy(weights[x].view(-1, weights.shape[1]), y.view(-1))
        loss.backward()
        weights.data -= learning_rate * weights.grad
        weights.grad.zero_()
        losses[step] = loss.item()
    return weights.detach(), losses


def descend_in_numpy(table, x, y, learning_rate, steps):
    table, losses = table.numpy().astype(float), []
    x, y = x.numpy().ravel(), y.numpy().ravel()
    for _ in range(steps):
        e = np.exp(table)
        p = e / e.sum(1, keepdims=True)
        losses.append(-np.log(p[x, y]).mean())
        gradient = np.zeros_like(table)
        for i, j in zip(x, y, strict=True):
            gradient[i] += p[i] / len(x)
            gradient[i, j] -= 1 / len(x)
        table = table - learning_rate * gradient
    return table, np.array(losses)


def stepping(change):
    """Backward and a hand-made update; `change` says how the gradient is used."""

    def answer(table, x, y, learning_rate, steps):
        table, losses = table.clone(), []
        for _ in range(steps):
            leaf = table.clone().requires_grad_()
            loss = F.cross_entropy(leaf[x].transpose(1, 2), y)
            loss.backward()
            losses.append(loss.item())
            table = change(table, leaf.grad, learning_rate, x, y)
        return table, losses

    return answer


def never_zeroed(table, x, y, learning_rate, steps):
    layer = nn.Embedding.from_pretrained(table.clone(), freeze=False)
    optimizer = torch.optim.SGD(layer.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(layer(x).flatten(0, 1), y.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return layer.weight, losses


def zeroed_too_early(table, x, y, learning_rate, steps):
    weights = table.clone().requires_grad_()
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(weights[x].flatten(0, 1), y.flatten())
        loss.backward()
        weights.grad.zero_()
        weights.data -= learning_rate * weights.grad
        losses.append(loss.item())
    return weights, losses


def adam_from_the_chapter(table, x, y, learning_rate, steps):
    layer = nn.Embedding.from_pretrained(table, freeze=False)
    optimizer = torch.optim.Adam(layer.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(layer(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return layer.weight, losses


def forgets_the_target(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()))
        gradient = torch.zeros_like(table)
        for i in x.flatten():
            gradient[i] += table[i].softmax(-1) / x.numel()
        table = table - learning_rate * gradient
    return table, losses


def last_of_equals(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    x, y = x.flatten(), y.flatten()
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x], y))
        delta = (table[x].softmax(-1) - F.one_hot(y, len(table))) / len(y)
        table[x] -= learning_rate * delta
    return table, losses


def trains_its_own(table, x, y, learning_rate, steps):
    layer = nn.Embedding(*table.shape)
    return descend_by_hand(layer.weight.detach(), x, y, learning_rate, steps)


def stops_after_one(table, x, y, learning_rate, steps):
    table, losses = descend_by_hand(table, x, y, learning_rate, 1)
    return table, losses * steps


def loss_afterwards(table, x, y, learning_rate, steps):
    losses = []
    for _ in range(steps):
        table, _ = descend_with_backward(table, x, y, learning_rate, 1)
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()))
    return table, losses


RIGHT = {
    "by hand": descend_by_hand,
    "torch's SGD": descend_by_optimizer,
    "backward": descend_with_backward,
    "numpy": descend_in_numpy,
}


def mean_of_each_row(table, grad, rate, x, y):
    table = table.clone()
    for symbol in x.unique():
        table[symbol] -= rate * grad[symbol] * y.numel() / (x == symbol).sum()
    return table


def last_loss(table, x, y, learning_rate, steps):
    after, losses = descend_with_backward(table, x, y, learning_rate, steps)
    return after, losses[-1].item()


def by_the_library(**settings):
    """torch's own descent, with settings that plain descent does not have."""

    def answer(table, x, y, learning_rate, steps):
        weights = table.clone().requires_grad_()
        optimizer = torch.optim.SGD([weights], lr=learning_rate, **settings)
        losses = []
        for _ in range(steps):
            loss = F.cross_entropy(weights[x].transpose(1, 2), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return weights.detach(), losses

    return answer


def rate_decays(table, x, y, learning_rate, steps):
    losses = []
    for step in range(1, steps + 1):
        table, before = descend_with_backward(table, x, y, learning_rate / step, 1)
        losses.append(before[0])
    return table, losses


def gradient_outside_the_loop(table, x, y, learning_rate, steps):
    once, _ = descend_with_backward(table.clone(), x, y, learning_rate, 1)
    losses = []
    for step in range(steps):
        now = table + step * (once - table)
        losses.append(F.cross_entropy(now[x].transpose(1, 2), y))
    return table + steps * (once - table), losses


def text_by_text(table, x, y, learning_rate, steps):
    losses = []
    for _ in range(steps):
        of_texts = []
        for current, following in zip(x, y, strict=True):
            table, loss = descend_with_backward(
                table, current[None], following[None], learning_rate, 1
            )
            of_texts.append(loss[0])
        losses.append(sum(of_texts) / len(of_texts))
    return table, losses


def columns(table, x, y, learning_rate, steps):
    after, losses = descend_with_backward(table.T, x, y, learning_rate, steps)
    return after.T, losses


def entries_of_the_targets(table, grad, rate, x, y):
    after = table.clone()
    p = table.softmax(-1)
    for i, j in zip(x.flatten(), y.flatten(), strict=True):
        after[i, j] += rate * (1 - p[i, j]) / y.numel()
    return after


def no_softmax_by_hand(table, grad, rate, x, y):
    after = table.clone()
    for i, j in zip(x.flatten(), y.flatten(), strict=True):
        after[i] -= rate * table[i] / y.numel()
        after[i, j] += rate / y.numel()
    return after


def descends_and_measures_again(table, x, y, learning_rate, steps):
    change = stepping(lambda table, grad, rate, x, y: table - rate * grad)
    table, losses = change(table, x, y, learning_rate, steps)
    return table, [*losses, F.cross_entropy(table[x].transpose(1, 2), y).item()]


def moves_after_each_pair(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x].transpose(1, 2), y).item())
        for i, j in zip(x.flatten().tolist(), y.flatten().tolist(), strict=True):
            p = table[i].softmax(-1)
            p[j] -= 1
            table[i] -= learning_rate / y.numel() * p
    return table, losses


def _loss(table, x, y):
    return F.cross_entropy(table[x].flatten(0, 1), y.flatten())


def descend_one_row(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        t = table.clone().requires_grad_()
        loss = _loss(t, x[:1], y[:1])
        (g,) = torch.autograd.grad(loss, t)
        table = table - learning_rate * g
        losses.append(loss.item())
    return table, losses


def descend_normalized(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        t = table.clone().requires_grad_()
        loss = _loss(t, x, y)
        (g,) = torch.autograd.grad(loss, t)
        table = table - learning_rate * g / g.norm()
        losses.append(loss.item())
    return table, losses


def descent_divided_by_the_rows(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        logits = table[x]
        losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten()).item())
        error = (logits.softmax(dim=-1) - F.one_hot(y, len(table))) / x.shape[0]
        gradient = torch.zeros_like(table)
        gradient.index_add_(0, x.flatten(), error.flatten(0, 1))
        table = table - learning_rate * gradient
    return table, torch.tensor(losses)


WRONG = {
    "one-text-only": descend_one_row,
    "gradient-normalized": descend_normalized,
    "of-another-count": descent_divided_by_the_rows,
    "weight-decay": by_the_library(weight_decay=0.01),
    "moved-within-a-step": moves_after_each_pair,
    "one-loss-more": descends_and_measures_again,
    "targets-only": stepping(entries_of_the_targets),
    "logits-for-probabilities": stepping(no_softmax_by_hand),
    "momentum": by_the_library(momentum=0.9),
    "rate-changes": rate_decays,
    "gradient-of-the-start": gradient_outside_the_loop,
    "several-steps-for-one": text_by_text,
    "columns-for-rows": columns,
    "x-for-y": lambda table, x, y, rate, steps: descend_by_hand(table, y, x, rate, steps),
    "another-number-of-steps": lambda table, x, y, rate, steps: descend_by_hand(
        table, x, y, rate, steps + 1
    ),
    "swapped-results": lambda *given: descend_by_hand(*given)[::-1],
    "mean-for-each-symbol": stepping(mean_of_each_row),
    "no-zero-grad": never_zeroed,
    "wrong-sign": stepping(lambda table, grad, rate, x, y: table + rate * grad),
    "no-step": zeroed_too_early,
    "adam-for-sgd": adam_from_the_chapter,
    "sum-not-mean": stepping(lambda table, grad, rate, x, y: table - rate * grad * y.numel()),
    "gradient-without-target": forgets_the_target,
    "lost-repeats": last_of_equals,
    "hot-start": trains_its_own,
    "one-step-only": stops_after_one,
    "loss-after-the-step": loss_afterwards,
    "one-loss-only": last_loss,
}


# "your functions leave what they are given as it was": only the table may change
def counts_in_place(table, x, y, learning_rate, steps):
    after, losses = descend_with_backward(table, x, y, learning_rate, steps)
    y -= x
    return after, losses


# "plain steps", whatever the length of the gradient
def clipped(table, grad, rate, x, y):
    return table - rate * grad * min(1.0, 1 / grad.norm().item())


# "the loss before each step": of which the gradient is taken
def losses_summed(table, x, y, learning_rate, steps):
    after, losses = descend_with_backward(table, x, y, learning_rate, steps)
    return after, [loss * y.numel() for loss in losses]


ODD = [
    (by_the_library(weight_decay=0.2), "moves-other-rows"),
    (losses_summed, "loss-before-the-first-step"),
    (stepping(clipped), "wrong-length-of-step"),
    (counts_in_place, "changes-its-input"),
    (lambda table, x, y, rate, steps: table, "type"),
]


# --- Answers that no list names ---


# "the losses before each step (steps,)": also if the learning rate is so large that they rise
def stopped_when_the_loss_rises(table, x, y, learning_rate, steps):
    table = table.clone().requires_grad_()
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
        losses.append(loss.item())
        if losses[-1] > min(losses):
            break
        (gradient,) = torch.autograd.grad(loss, table)
        table = (table - learning_rate * gradient).detach().requires_grad_()
    return table.detach(), torch.tensor(losses)


def updated_after_each_text(table, x, y, learning_rate, steps):
    """Updates the table after every row of the batch, B times a step, with that row's mean loss."""
    table = table.clone().requires_grad_()
    losses = []
    for _ in range(steps):
        with torch.no_grad():
            losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()).item())
        for current, following in zip(x, y, strict=True):
            loss = F.cross_entropy(table[current], following)
            (gradient,) = torch.autograd.grad(loss, table)
            with torch.no_grad():
                table -= learning_rate * gradient
    return table.detach(), torch.tensor(losses)


UNLISTED = {
    6: [(stopped_when_the_loss_rises, "only-the-first")],
    13: [(updated_after_each_text, "several-steps-for-one")],
}
