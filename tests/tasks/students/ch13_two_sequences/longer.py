"""Students' answers to 13/longer."""

import numpy as np
import torch


def by_lstsq(table, shift, trained):
    errors = []
    for n in trained:
        x, y = table[: n - shift].numpy(), table[shift:n].numpy()
        M = np.linalg.lstsq(x, y, rcond=None)[0]
        gap = table[n - shift : -shift].numpy() @ M - table[n:].numpy()
        errors.append(float(np.sqrt(np.mean(gap**2))))
    return errors


def with_pinv(table, shift, trained):
    x, y = table[:-shift], table[shift:]
    out = torch.zeros(len(trained))
    for i, n in enumerate(trained):
        predicted = x @ (x[: n - shift].pinverse() @ y[: n - shift])
        out[i] = (predicted - y)[n - shift :].pow(2).mean().sqrt()
    return out


def with_normal_equations(
    table, shift, trained, *, damp=0.0, by=None, test=None, swap=False, flip=False, norm=None
):
    """(XXᵀ)⁺ from eigenvalues: the least of all maps that fit."""
    x, y = (table[shift:], table[:-shift]) if swap else (table[:-shift], table[shift:])
    errors = []
    for n in trained:
        known = by(n, shift) if by else n - shift
        a, b = x[:known], y[:known]
        if damp:
            M = (a.T @ a + damp * torch.eye(a.shape[1])).inverse() @ a.T @ b
        else:
            U, s, V = torch.linalg.svd(a, full_matrices=False)
            keep = s > 1e-10 * s[0]
            M = V[keep].T / s[keep] @ U[:, keep].T @ b
        if flip:
            M = M.T
        part = test(n, shift) if test else slice(known, None)
        gap = x[part] @ M - y[part]
        errors.append(norm(gap, y[part]) if norm else (gap**2).mean() ** 0.5)
    return torch.stack(errors)


def but(**how):
    return lambda *given: with_normal_equations(*given, **how)


def with_a_constant(table, shift, trained):
    with_ones = torch.nn.functional.pad(table, (0, 1), value=1.0)
    errors = []
    for n in trained:
        M = torch.linalg.pinv(with_ones[: n - shift]) @ table[shift:n]
        gap = with_ones[n - shift : -shift] @ M - table[n:]
        errors.append(gap.square().mean().sqrt())
    return errors


RIGHT = {"lstsq": by_lstsq, "pinv": with_pinv, "svd": with_normal_equations}


def with_one_pair_less(table, shift, trained):
    errors = []
    for n in trained:
        M = table[: n - shift - 1].pinverse() @ table[shift : n - 1]
        errors.append((table[n - shift : -shift] @ M - table[n:]).square().mean().sqrt())
    return torch.stack(errors)


def middle(gap, _):
    return gap.abs().median()


def fitted_on_differences(table, shift, trained):
    """Fits how far each position moves, which is another map where many maps fit."""
    errors = []
    for n in trained:
        x, y = table[: n - shift], table[shift:n]
        step = torch.linalg.pinv(x) @ (y - x)
        gap = table[n - shift : -shift] @ step + table[n - shift : -shift] - table[n:]
        errors.append(gap.square().mean().sqrt())
    return errors


def by_the_first_rows(table, shift, trained):
    """Where many maps fit, takes one that reads only as many channels as there are pairs."""
    errors = []
    for n in trained:
        M = torch.zeros(table.shape[1], table.shape[1], dtype=table.dtype)
        read = min(n - shift, table.shape[1])
        M[:read] = torch.linalg.pinv(table[: n - shift, :read]) @ table[shift:n]
        errors.append((table[n - shift : -shift] @ M - table[n:]).square().mean().sqrt())
    return errors


def on_every_third_and_with_a_deviation(table, shift, trained):
    """Two slips: pairs that overlap are left out of the fit, and the mean is subtracted."""
    errors = []
    for n in trained:
        M = table[: n - shift : shift].pinverse() @ table[shift:n:shift]
        errors.append((table[n - shift : -shift] @ M - table[n:]).std())
    return torch.stack(errors)


def one_step_learned_and_repeated(table, shift, trained):
    """Learns the map of a single step and takes its power, because a shift is that many steps."""
    errors = []
    for n in trained:
        step = torch.linalg.pinv(table[: n - 1]) @ table[1:n]
        M = torch.linalg.matrix_power(step, shift)
        gap = table[n - shift : -shift] @ M - table[n:]
        errors.append(gap.square().mean().sqrt().item())
    return errors


def mean_length_of_the_gaps(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        known = n - shift
        M = torch.linalg.pinv(before[:known]) @ after[:known]
        gap = before[known:] @ M - after[known:]
        errors.append(gap.norm(dim=1).mean().item())
    return errors


# "the root of the mean square ..., over all channels and over all pairs": a root for each pair,
# and then their mean.
def mean_of_the_roots(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        known = n - shift
        M = torch.linalg.pinv(before[:known]) @ after[:known]
        gap = before[known:] @ M - after[known:]
        errors.append(gap.square().mean(dim=1).sqrt().mean().item())
    return errors


def _errors(table, shift, trained, error):
    before, after = table[:-shift], table[shift:]
    return [error(before, after, n) for n in trained]


def longer_with_absolute_errors(table, shift, trained):
    def error(before, after, n):
        known = n - shift
        M = torch.linalg.pinv(before[:known]) @ after[:known]
        return (before[known:] @ M - after[known:]).abs().mean().item()

    return _errors(table, shift, trained, error)


def _errors_of_a_fit(table, shift, trained, fit, error):
    before, after = table[:-shift], table[shift:]
    out = []
    for n in trained:
        known = n - shift
        M = fit(before[:known], after[:known])
        out.append(error(before, after, M, known))
    return out


def _pinv(a, b):
    return torch.linalg.pinv(a) @ b


def _beyond(before, after, M, known):
    return (before[known:] @ M - after[known:]).square().mean().sqrt().item()


def first_pair_left_out(table, shift, trained):
    return _errors_of_a_fit(table, shift, trained, lambda a, b: _pinv(a[1:], b[1:]), _beyond)


WRONG = {
    "one-step-repeated": one_step_learned_and_repeated,
    "one-pair-more-fitted": but(
        by=lambda n, shift: n - shift + 1, test=lambda n, shift: slice(n - shift, None)
    ),
    "one-pair-less-fitted": with_one_pair_less,
    "tested-one-later": but(test=lambda n, shift: slice(n - shift + 1, None)),
    "tested-one-earlier": but(test=lambda n, shift: slice(max(0, n - shift - 1), None)),
    "table-centered": lambda table, *given: by_lstsq(table - table.mean(0), *given),
    "median-of-gaps": but(norm=middle),
    "first-of-trained": lambda table, shift, trained: by_lstsq(
        table, shift, [trained[0] for _ in trained]
    ),
    "root-of-the-sum-over-channels": but(norm=lambda gap, y: gap.square().sum(dim=1).mean().sqrt()),
    "root-for-each-channel": but(norm=lambda gap, y: gap.square().mean(0).sqrt().mean()),
    "mean-of-lengths": mean_length_of_the_gaps,
    "last-pair-missing": lambda table, *given: by_lstsq(table[:-1], *given),
    "constant-added": with_a_constant,
    "mean-of-roots": mean_of_the_roots,
    "on-trained": but(test=lambda n, k: slice(0, n - k)),
    "on-all": but(test=lambda n, k: slice(None)),
    "leak": but(by=lambda n, k: n),
    "gap-left-out": but(test=lambda n, k: slice(n, None)),
    "backwards": but(swap=True),
    "transposed": but(flip=True),
    "absolute": longer_with_absolute_errors,
    "no-root": but(norm=lambda gap, y: gap.square().mean()),
    "summed": but(norm=lambda gap, y: gap.norm()),
    "largest": but(norm=lambda gap, y: gap.abs().max()),
    "relative": but(norm=lambda gap, y: gap.norm() / y.norm()),
    "ridge": but(damp=0.1),
    "first-pair-missing": first_pair_left_out,
}


def pairs_go_round(table, shift, trained):
    """Shifts with roll, so the last positions are tested against the first ones again."""
    after = table.roll(-shift, dims=0)
    errors = []
    for n in trained:
        known = n - shift
        M = torch.linalg.pinv(table[:known]) @ after[:known]
        gap = table[known:] @ M - after[known:]
        errors.append(gap.square().mean().sqrt().item())
    return errors


ODD = [
    (pairs_go_round, "other-choices"),
    (fitted_on_differences, "other-choices"),
    (by_the_first_rows, "another-of-many-maps"),
    (on_every_third_and_with_a_deviation, "other-choices"),
    (lambda table, *given: by_lstsq(table.float(), *given), "nearly-zero"),
    (but(test=lambda n, k: slice(k, k + 3)), "other-errors"),
    (lambda *a: [1 + e for e in by_lstsq(*a)], "constant-difference"),
    (lambda table, shift, trained: by_lstsq(table, shift, sorted(trained)), "as-if-trained-sorted"),
]


# --- Answers that no list names ---


def own_predictions_continued(table, shift, trained):
    """Beyond the trained positions, applies M to its own predictions, not to rows of the table."""
    errors = []
    for n in trained:
        M = torch.linalg.pinv(table[: n - shift]) @ table[shift:n]
        rows = list(table[:n])
        for t in range(n - shift, len(table) - shift):
            rows.append(rows[t] @ M)
        gap = torch.stack(rows[n:]) - table[n:]
        errors.append(gap.square().mean().sqrt().item())
    return errors


UNLISTED = {
    15: [(own_predictions_continued, "other-choices")],
}
