"""Students' answers to 09/carried."""

import torch
import torch.nn.functional as F


def _cross(logits, y):
    return F.cross_entropy(logits.permute(0, 2, 1), y)


def carried_each(model, batches):
    hidden = cell = None
    losses = []
    for x, y, fresh in batches:
        state = None
        if hidden is not None:
            keep = 1 - fresh.float().view(1, -1, 1)
            state = (hidden.detach() * keep, cell.detach() * keep)
        logits, (hidden, cell) = model.read(x, state)
        loss = _cross(logits, y)
        loss.backward()
        losses.append(loss)
    return losses


def carried_sum(model, batches):
    state, total, losses = None, 0, []
    for x, y, fresh in batches:
        if state is not None:
            state = [torch.where(fresh[:, None], 0.0, s) for s in state]
        logits, state = model.read(x, state)
        state = [s.detach() for s in state]
        losses.append(_cross(logits, y))
        total = total + losses[-1]
    total.backward()
    return torch.stack(losses)


def carried_in_place(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            for part in state:
                part[:, fresh] = 0
        logits, new = model.read(x, state)
        loss = -logits.log_softmax(-1).gather(-1, y[..., None]).mean()
        loss.backward()
        losses.append(loss.detach().numpy().item())
        state = tuple(part.detach().clone() for part in new)
    return losses


def carried(blank=True, detach=(True, True), retain=False, when="each"):
    """Walks the batches; what is done to the states says `blank(part, fresh, which)`."""

    def walk(model, batches):
        state, losses = None, []
        for x, y, fresh in batches:
            if state is not None:
                state = [
                    (part.detach() if cut else part)
                    for part, cut in zip(state, detach, strict=True)
                ]
                state = [
                    blank(part, fresh.view(1, -1, 1), which) for which, part in enumerate(state)
                ]
            logits, state = model.read(x, state)
            loss = _cross(logits, y)
            if when == "last":
                for parameter in model.parameters():
                    parameter.grad = None
            if when != "never":
                loss.backward(retain_graph=retain)
            losses.append(loss.item())
        return losses

    return walk


def only_fresh(part, fresh, _):
    return part * ~fresh


def carried_no_grad(model, batches):
    with torch.inference_mode():
        return carried(only_fresh, when="never")(model, batches)


def carried_wrong_sign(model, batches):
    return [-loss for loss in carried(only_fresh, when="never")(model, batches)]


RIGHT = {
    "each batch": carried_each,
    "sum at the end": carried_sum,
    "blanked in place": carried_in_place,
}


def cleared_at_the_start(model, batches):
    for parameter in model.parameters():
        parameter.grad = None
    return next(iter(RIGHT.values()))(model, batches)


def loss_of_the_last_position(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = [part.detach() * ~fresh[:, None] for part in state]
        logits, state = model.read(x, state)
        loss = _cross(logits[:, -1:], y[:, -1:])
        loss.backward()
        losses.append(float(loss))
    return losses


def summed_over_targets(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(part.detach() * ~fresh[:, None] for part in state)
        logits, state = model.read(x, state)
        loss = _cross(logits, y) * y.numel()
        loss.backward()
        losses.append(loss.item())
    return losses


def hidden_for_cell(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        logits, (hidden, cell) = model.read(x, state and tuple(s * ~fresh[:, None] for s in state))
        state = cell.detach(), hidden.detach()
        losses.append(_cross(logits, y))
        losses[-1].backward()
    return losses


# "A row that is fresh starts blank": `fresh` is read when the batch is over.
def blanks_after_the_batch(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        logits, state = model.read(x, state)
        state = tuple(part.detach().masked_fill(fresh[None, :, None], 0.0) for part in state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


# "let the gradients in the parameters add up": they are shortened in between.
def gradients_are_clipped(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(part.detach().masked_fill(fresh[None, :, None], 0.0) for part in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        losses.append(loss.item())
    return losses


# Adds the losses up and goes backward once, to save time, divided by how many they are.
# "Go backward through the loss of every batch, and let the gradients … add up."
def mean_of_the_batches(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = [s.detach() * (~fresh)[None, :, None] for s in state]
        logits, state = model.read(x, None if state is None else tuple(state))
        losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten()))
    torch.stack(losses).mean().backward()
    return [loss.item() for loss in losses]


WRONG = {
    "gradients-averaged": mean_of_the_batches,
    "summed": summed_over_targets,
    "states-exchanged": hidden_for_cell,
    "last-position-only": loss_of_the_last_position,
    "blanked-too-late": blanks_after_the_batch,
    "gradients-clipped": gradients_are_clipped,
    "start-gradients-cleared": cleared_at_the_start,
    "graph-kept": carried(only_fresh, detach=(True, False)),
    "not-detached": carried(only_fresh, detach=(False, False), retain=True),
    "not-carried": carried(lambda part, *_: part * 0),
    "fresh-ignored": carried(lambda part, *_: part),
    "all-rows-blank": carried(lambda part, fresh, _: part * (not fresh.any())),
    "fresh-inverted": carried(lambda part, fresh, _: part * fresh),
    "only-hidden-blanked": carried(lambda part, fresh, which: part if which else part * ~fresh),
    "last-gradient-only": carried(only_fresh, when="last"),
    "no-gradient": carried_no_grad,
}


def a_step_at_the_end(model, batches):
    losses = carried_each(model, batches)
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    return losses


def left_in_evaluation(model, batches):
    model.eval()
    return carried_each(model, batches)


def with_loss(loss):
    def answer(model, batches):
        state, found = None, []
        for x, y, fresh in batches:
            if state is not None:
                state = tuple(part.detach() * ~fresh[:, None] for part in state)
            logits, state = model.read(x, state)
            found.append(loss(logits, y))
            found[-1].backward()
        return torch.stack(found).tolist()

    return answer


def rows_stay_blank(model, batches):
    """A row that was fresh once starts blank in every later batch, too."""
    state, seen, found = None, torch.zeros_like(batches[0][2]), []
    for x, y, fresh in batches:
        seen = seen | fresh
        if state is not None:
            state = tuple(part.detach() * ~seen[:, None] for part in state)
        logits, state = model.read(x, state)
        loss = _cross(logits, y)
        loss.backward()
        found.append(loss.item())
    return found


def cut_inside(every):
    """Reads a few tokens at a time and detaches the states after each of the pieces."""

    def answer(model, batches):
        state, losses = None, []
        for x, y, fresh in batches:
            if state is not None:
                state = [part.detach() * ~fresh[:, None] for part in state]
            pieces = []
            for start in range(0, x.shape[1], every):
                logits, state = model.read(x[:, start : start + every], state)
                state = [part.detach() for part in state]
                pieces.append(logits)
            loss = _cross(torch.hstack(pieces), y)
            loss.backward()
            losses.append(loss)
        return losses

    return answer


WRONG |= {
    "detached-inside": cut_inside(1),
    "softmax-taken-twice": with_loss(lambda z, y: F.cross_entropy(z.softmax(-1).mT, y)),
    "logits-scrambled": with_loss(lambda z, y: F.cross_entropy(z.view(len(y), -1, y.shape[1]), y)),
}


ODD = [
    (rows_stay_blank, "other-states"),
    (cut_inside(2), "other-gradients"),
    (with_loss(lambda z, y: F.cross_entropy(z.mT, y, label_smoothing=0.1)), "first-loss"),
    (lambda *given: [loss.exp() for loss in carried_each(*given)], "perplexities"),
    (lambda *given: [round(loss.item(), 2) for loss in carried_each(*given)], "rounded"),
    (carried_wrong_sign, "sign"),
    (a_step_at_the_end, "weights-changed"),
    (left_in_evaluation, "mode-not-restored"),
]


# --- Answers that no list names ---


def _read(model, batches, blank=None, scale=lambda loss, x: loss, first=None):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            gone = fresh[None, :, None] if blank is None else blank(fresh)
            state = tuple(s.detach().masked_fill(gone, 0.0) for s in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        scale(loss, x).backward()
        losses.append(loss.item())
    return losses


def sums_of_losses(model, batches):
    return [loss * batches[0][0].numel() for loss in _read(model, batches)]


UNLISTED = {
    1: [(sums_of_losses, "first-loss")],
}
