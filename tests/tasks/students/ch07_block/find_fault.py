"""Students' answers to 07/find-fault."""

import sys

import numpy as np
import torch


def inspect_by_positions(block, B, T, C):
    torch.manual_seed(5)
    x = torch.randn(B, T, C)
    y = block(x)
    report = {"future": False, "batch": False}
    for t in range(1, T):
        z = torch.cat([x[:, :t], torch.randn(B, T - t, C)], dim=1)
        report["future"] |= not torch.allclose(block(z)[:, :t], y[:, :t], atol=1e-4)
    for b in range(B):
        alone = block(x[b : b + 1])
        report["batch"] |= not torch.allclose(alone[0], y[b], atol=1e-4)
    report["stream"] = not torch.allclose(block(x - 2), y - 2, atol=1e-3)
    return report


def inspect_by_gradient(block, B, T, C):
    x = torch.randn(B, T, C, dtype=torch.float64, requires_grad=True)
    y = block(x)
    heard = 0.0
    for t in range(T - 1):
        (pulled,) = torch.autograd.grad((y[:, t] ** 2).sum(), x, retain_graph=True)
        heard = max(heard, pulled[:, t + 1 :].abs().max().item())
    found = {"future": heard > 1e-9}
    mixed = 0.0
    for b in range(B):
        (pulled,) = torch.autograd.grad((y[b] ** 2).sum(), x, retain_graph=True)
        pulled[b] = 0
        mixed = max(mixed, pulled.abs().max().item())
    c = torch.randn(B, T, 1, dtype=torch.float64)
    off = (block(x.detach() + 1.5) - y.detach() - 1.5).abs().max()
    assert c.shape == (B, T, 1)
    return {**found, "batch": mixed > 1e-9, "stream": bool(off > 1e-6)}


def inspect_in_numpy(block, B, T, C):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(B, T, C))

    def run(x):
        return block(torch.from_numpy(x)).numpy()

    later = x.copy()
    later[:, -1] = rng.normal(size=(B, C))
    mixed = False
    for b in range(B):
        other = x.copy()
        other[b] = rng.normal(size=(T, C))
        gap = np.abs(run(other) - run(x)).max(axis=(1, 2))
        mixed = mixed or np.delete(gap, b).max() > 1e-6
    return {
        "future": np.abs(run(later) - run(x))[:, :-1].max() > 1e-6,
        "batch": mixed,
        "stream": not np.allclose(run(x + 7), run(x) + 7, atol=1e-5),
    }


def inspect_by_jacobian(block, B, T, C):
    x = torch.randn(B, T, C, dtype=torch.float64)
    felt = torch.func.jacrev(block)(x).abs().amax(dim=(2, 5))  # (B, T, B, T)
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    same = torch.eye(B, dtype=torch.bool)
    pushed = torch.func.jvp(block, (x,), (torch.ones_like(x),))[1]
    return {
        "future": felt.amax(dim=(0, 2))[later].max() > 1e-9,
        "batch": felt.amax(dim=(1, 3))[~same].max() > 1e-9,
        "stream": (pushed - 1).abs().max() > 1e-6,
    }


def inspect_parts(block, B, T, C):
    """Shorter texts, single samples, and an input beside which no branch is heard."""
    x = torch.randn(B, T, C, dtype=torch.float64)
    y = block(x)
    cut = [block(x[:, :t]) - y[:, :t] for t in range(1, T)]
    alone = torch.cat([block(sample[None]) for sample in x])
    loud = 1e6 * torch.randn(B, T, C, dtype=torch.float64)
    return {
        "future": max(gap.abs().max() for gap in cut) > 1e-8,
        "batch": not torch.allclose(alone, y),
        "stream": (block(loud) - loud).abs().max() > 1e3,
    }


def inspect_with_constants(block, B, T, C):
    found = inspect_by_positions(block, B, T, C)
    flat = torch.full((B, T, C), 4.0)
    return {**found, "stream": not torch.allclose(block(flat), flat, atol=1e-3)}


def inspect_by_default_tolerance(block, B, T, C):
    """Compares with PyTorch's own tolerance, which near 0 is narrower than single precision."""
    found = inspect_by_positions(block, B, T, C)
    x = torch.randn(B, T, C)
    return {**found, "stream": not torch.allclose(block(x + 3), block(x) + 3)}


def inspecting(**questions):
    """The inspector above, but for some questions; each is asked of block and x."""

    def answer(block, B, T, C):
        found = inspect_by_gradient(block, B, T, C)
        x = torch.randn(B, T, C, dtype=torch.float64)
        return {**found, **{name: bool(ask(block, x)) for name, ask in questions.items()}}

    return answer


def exchanged(block, B, T, C):
    x = torch.randn(B, T, C, dtype=torch.float64)
    found = inspect_by_gradient(block, B, T, C)
    mixed = False
    for t in range(T):
        z = x.clone()
        z[:, t] = torch.randn(B, C, dtype=torch.float64)
        mixed |= bool(((block(z) - block(x)).abs()[:, :t] > 1e-6).any())
    return {"future": found["batch"], "batch": mixed, "stream": found["stream"]}


def no_copy(block, B, T, C):
    x = torch.randn(B, T, C, dtype=torch.float64)
    z = x
    z[:, -1] = 0.5
    future = not torch.allclose(block(z)[:, :-1], block(x)[:, :-1])
    z = x
    z[0] = torch.randn(T, C)
    batch = not torch.allclose(block(z)[1:], block(x)[1:])
    return {**inspect_by_gradient(block, B, T, C), "future": future, "batch": batch}


def nudged(block, x):
    z = x.clone()
    z[:, -1, :] = z[:, -1, :] - 2
    return (block(z) - block(x))[:, :-1].abs().max() > 1e-6


def changed_too(block, x):
    z = x.clone()
    z[:, 2:] = torch.randn_like(z[:, 2:])
    return (block(z) - block(x))[:, :3].abs().max() > 1e-6


def only_sample_zero(block, x):
    z = x.clone()
    z[1:] = torch.randn_like(z[1:])
    return (block(z) - block(x))[0].abs().max() > 1e-6


def any_sample(block, x):
    z = x.clone()
    z[1] = torch.randn_like(z[1])
    return not torch.allclose(block(z), block(x))


def one_feature(block, x):
    z = x.clone()
    z[..., 0] += 1
    expected = block(x)
    expected[..., 0] += 1
    return not torch.allclose(block(z), expected)


def moves_at_all(block, x):
    return torch.allclose(block(x + 1), block(x))


def tolerant(tolerance, *questions):
    """An inspector that takes differences below a tolerance for rounding, in some questions."""

    def future(block, x):
        z = torch.cat([x[:, :3], torch.randn_like(x[:, 3:])], dim=1)
        return (block(z) - block(x))[:, :3].abs().max() > tolerance

    def batch(block, x):
        gaps = []
        for b in range(len(x)):
            z = x.clone()
            z[b] = torch.randn_like(x[b])
            gaps.append((block(z) - block(x))[torch.arange(len(x)) != b].abs().max())
        return max(gaps) > tolerance

    def stream(block, x):
        return (block(x + 3) - block(x) - 3).abs().max() > tolerance

    asked = {"future": future, "batch": batch, "stream": stream}
    return inspecting(**{name: asked[name] for name in questions})


def reads_names(block, B, T, C):
    """Looks for a word in all that hangs on the block, and runs nothing."""
    words = " ".join(str(cell.cell_contents) for cell in block.__closure__).lower()
    return {
        "future": "mask" in words or "sequence" in words,
        "batch": "batch" in words,
        "stream": "residual" in words or "post" in words,
    }


def reads_numbers(block, B, T, C):
    """Finds the numbers of the block in its caller, and knows all that they mean."""
    return meaning_of(sys._getframe(1).f_locals["form"])


def reads_numbers_and_runs(block, B, T, C):
    """Runs the block once, for show."""
    block(torch.randn(B, T, C))
    return meaning_of(sys._getframe(1).f_locals["form"])


def meaning_of(form):
    return {
        "future": form.hears[0].any() or form.over[:, 1].any(),
        "batch": form.hears[:, [0, 2]].any() or form.over[:, 0].any(),
        "stream": not form.before or (form.carries != 1).any(),
    }


RIGHT = {
    "every position": inspect_by_positions,
    "gradients": inspect_by_gradient,
    "numpy": inspect_in_numpy,
    "jacobian": inspect_by_jacobian,
    "parts": inspect_parts,
    "constants": inspect_with_constants,
    "PyTorch's tolerance": inspect_by_default_tolerance,
}


def samples_upside_down(block, x):
    return (block(x.flip(0)).flip(0) - block(x)).abs().max() > 1e-6


def position_zero_alone(block, x):
    z = torch.cat([x[:, :1], torch.randn_like(x[:, 1:])], dim=1)
    return not torch.allclose(block(z)[:, 0], block(x)[:, 0])


def one_after_the_other(block, B, T, C):
    found = inspect_by_gradient(block, B, T, C)
    if found["future"]:
        return {"future": True, "batch": False, "stream": False}
    if found["batch"]:
        return {"future": False, "batch": True, "stream": False}
    return found


def sample_zero_changed(block, x):
    z = torch.cat([torch.randn_like(x[:1]), x[1:]])
    return (block(z) - block(x))[1:].abs().max() > 1e-6


def nudges_a_sample(block, B, T, C):
    x = torch.randn(B, T, C, dtype=torch.float64)
    batch = False
    for b in range(B):
        z = x.clone()
        z[b] = z[b] + 2
        batch = batch or not torch.allclose(
            block(z)[torch.arange(B) != b], block(x)[torch.arange(B) != b]
        )
    return {**inspect_by_positions(block, B, T, C), "batch": batch}


def from_zeros(block, B, T, C):
    zeros = torch.zeros(B, T, C)
    stream = not torch.allclose(block(zeros), zeros)
    x, y = torch.randn(B, T, C), torch.randn(B, T, C)
    z = torch.cat([x[:, :3], y[:, 3:]], 1)
    future = not torch.allclose(block(z)[:, :3], block(x)[:, :3], atol=1e-4)
    batch = any(
        not torch.allclose(block(x)[b], block(x[b : b + 1])[0], atol=1e-4) for b in range(B)
    )
    return {"future": future, "batch": batch, "stream": stream}


def ratio_of_large_numbers(block, B, T, C):
    """Wants output / input to be 1 for large inputs, at every entry, though some are near 0."""
    x = torch.randn(B, T, C)
    y = block(x)
    future = False
    for t in range(1, T):
        other = x.clone()
        other[:, t:] = torch.randn(B, T - t, C)
        future |= not torch.allclose(block(other)[:, :t], y[:, :t], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[rest], y[rest], atol=1e-4)
    large = 1000 * torch.randn(B, T, C)
    stream = bool(((block(large) / large - 1).abs() > 0.01).any())
    return {"future": future, "batch": batch, "stream": stream}


WRONG = {
    "one-fault-for-each-block": one_after_the_other,
    "zeros-given": from_zeros,
    "answers-turned-round": inspecting(
        stream=lambda block, x: torch.allclose(block(x + 2), block(x) + 2, atol=1e-4)
    ),
    "first-position-only": inspecting(future=position_zero_alone),
    "axes-exchanged": exchanged,
    "nothing-changed": no_copy,
    "constant-nudge": inspecting(future=nudged),
    "one-direction-only": inspecting(batch=only_sample_zero),
    "order-of-samples-only": inspecting(batch=samples_upside_down),
    "future-always-accused": inspecting(future=changed_too),
    "batch-always-accused": inspecting(batch=any_sample),
    "sound-stream-accused": inspecting(stream=one_feature),
    "ratio-near-zero": ratio_of_large_numbers,
    "any-shift-accepted": inspecting(stream=moves_at_all),
}


def _inspected(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    later = x.clone()
    later[:, T // 2 :] = torch.randn(B, T - T // 2, C)
    future = not torch.allclose(block(later)[:, : T // 2], y[:, : T // 2], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        untouched = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[untouched], y[untouched], atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


def inspector_of_the_past(block, B, T, C):
    """Changes what comes first and looks whether what comes later changes."""
    x = torch.randn(B, T, C)
    other = x.clone()
    other[:, : T // 2] = torch.randn(B, T // 2, C)
    future = not torch.allclose(block(other)[:, T // 2 :], block(x)[:, T // 2 :], atol=1e-4)
    return _inspected(block, B, T, C) | {"future": future}


ODD = [
    (inspecting(batch=sample_zero_changed), "one-direction-only"),
    (nudges_a_sample, "constant-nudge"),
    (lambda block, B, T, C: {"future": True}, "type"),
    (tolerant(1.0, "stream"), "faint-missed"),
    (tolerant(1.0, "future", "batch", "stream"), "faint-missed"),
    (inspecting(stream=lambda block, x: False), "misses-blocks"),
    (inspector_of_the_past, "accuses-blocks"),
    (
        inspecting(stream=lambda block, x: not torch.allclose(block(x + 1e3), block(x))),
        "sound-stream-accused",
    ),
]


TRICKS = {
    "names": (reads_names, 0),
    "numbers": (reads_numbers, 0),
    "numbers, and a run": (reads_numbers_and_runs, 0),
}


# --- Answers that no list names ---


def _tries(block, B, T, C, tolerance=1e-4, again=True):
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x.clone()
    later[:, t:] = torch.randn(B, T - t, C)
    future = (block(later)[:, :t] - y[:, :t]).abs().max() > tolerance
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch = batch or (block(other)[rest] - y[rest]).abs().max() > tolerance
    stream = (block(x + 3) - y - 3).abs().max() > tolerance
    return {"future": bool(future), "batch": bool(batch), "stream": bool(stream)}


def tolerance_of_ten(block, B, T, C):
    return _tries(block, B, T, C, tolerance=10.0)


def faults_stay(block, B, T, C, seen={}):  # noqa: B006 - the mistake
    for name, found in _tries(block, B, T, C).items():
        seen[name] = seen.get(name, False) or found
    return dict(seen)


def answers_turned(block, B, T, C):
    return {name: not found for name, found in _tries(block, B, T, C).items()}


# "batch: does an output depend on another sample": without a clone, x is another input from the
# second test on, and y is still that of the first.
def forgets_to_clone(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x
    later[:, t:] = torch.randn(B, T - t, C)
    future = not torch.allclose(block(later)[:, :t], y[:, :t], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[rest], y[rest], atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# Reads the question about the stream as one about its sign: passed on at all, or not.
# "does the block fail to pass the stream on unchanged?"
def stream_by_correlation(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)

    half = T // 2
    changed = x.clone()
    changed[:, half:] = torch.randn(B, T - half, C)
    future = (block(changed)[:, :half] - y[:, :half]).abs().max().item() > 1e-4

    batch = False
    for b in range(B):
        alone = torch.randn(B, T, C)
        alone[b] = x[b]
        batch = batch or (block(alone)[b] - y[b]).abs().max().item() > 1e-4

    r = torch.corrcoef(torch.stack([x.flatten(), y.flatten()]))[0, 1].item()
    return {"future": future, "batch": batch, "stream": r < 0.1}


# Changes inputs by adding 1 everywhere, as the third test does.
# "does an output … depend on a *later* position": the norm hides such a change
def one_added_to_what_changes(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)

    later = x.clone()
    later[:, -1] += 1
    future = not torch.allclose(block(later)[:, :-1], y[:, :-1], atol=1e-4)

    batch = False
    for b in range(B):
        other = x.clone()
        other[b] += 1
        rest = [i for i in range(B) if i != b]
        if not torch.allclose(block(other)[rest], y[rest], atol=1e-4):
            batch = True

    stream = not torch.allclose(block(x + 1), y + 1, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


UNLISTED = {
    1: [
        (tolerance_of_ten, "nothing-changed"),
        (faults_stay, "batch-always-accused"),
        (answers_turned, "answers-turned-round"),
    ],
    5: [(forgets_to_clone, "batch-always-accused")],
    7: [(stream_by_correlation, "not-run")],
    8: [(one_added_to_what_changes, "constant-nudge")],
}
