"""Students' answers to 06/dropout."""

import numpy as np
import torch


def drop_by_bernoulli(found, p, training, generator):
    if not training:
        return found
    if p >= 1:
        return found * 0
    kept = torch.full(found.shape[:2], 1 - p).bernoulli(generator=generator)
    return torch.einsum("bhtd,bh->bhtd", found, kept) / (1 - p)


def drop_by_loop(found, p, training, generator):
    found = found.clone()
    if not training or p == 0:
        return found
    coins = torch.rand(found.shape[0], found.shape[1], generator=generator).tolist()
    for b, row in enumerate(coins):
        for h, coin in enumerate(row):
            if coin < p:
                found[b, h] = 0
            else:
                found[b, h] /= 1 - p
    return found


def drop_in_numpy(found, p, training, generator):
    found = found.numpy().astype(np.float64)
    if not training:
        return found
    kept = torch.rand(*found.shape[:2], generator=generator).numpy()[..., None, None] > p
    return np.where(kept, found / max(1 - p, 1e-9), 0.0)


def dropping(mask, scale=lambda p: 1 / (1 - p + 1e-12)):
    def answer(found, p, training, generator):
        if training:
            found = found * mask(found, p, generator) * scale(p)
        return found

    return answer


def head_mask(found, p, generator):
    B, H, _, _ = found.shape
    return (torch.rand((B, H), generator=generator) > p)[:, :, None, None]


def smaller_in_evaluation(found, p, training, generator):
    return found * head_mask(found, p, generator) if training else found * (1 - p)


def training_not_read(found, p, training, generator):
    return dropping(head_mask)(found, p, True, generator)


def kept_by_p(found, p, generator):
    return head_mask(found, 1 - p, generator)


def each_entry(found, p, generator):
    return torch.rand(found.shape, generator=generator) > p


def each_position(found, p, generator):
    B, H, T, _ = found.shape
    return torch.rand(B, H, T, 1, generator=generator) > p


def for_the_batch(found, p, generator):
    return (torch.rand(found.shape[1], generator=generator) > p)[:, None, None]


def for_the_sample(found, p, generator):
    return (torch.rand(len(found), generator=generator) > p).view(-1, 1, 1, 1)


def by_kept_heads(found, p, training, generator):
    if not training:
        return found
    mask = head_mask(found, p, generator).to(found.dtype)
    number = mask.sum(1, keepdim=True)
    return torch.where(number > 0, found * mask * found.shape[1] / number, 0.0)


def division_at_one(found, p, training, generator):
    return found * head_mask(found, p, generator) / (1 - p) if training else found


def unseeded(found, p, generator):
    return torch.rand(*found.shape[:2], 1, 1) > p


def own_seed(found, p, generator):
    torch.manual_seed(0)
    return unseeded(found, p, generator)


RIGHT = {
    "bernoulli": drop_by_bernoulli,
    "loop": drop_by_loop,
    "numpy": drop_in_numpy,
}


def so_many_heads(found, p, training, generator):
    """A random choice of p · B · H heads."""
    gone = torch.randperm(found[:, :, 0, 0].numel(), generator=generator)
    gone = gone[: int(p * len(gone))]
    out = found.flatten(0, 1).clone() / max(1 - p, 1e-9)
    out[gone] = 0
    return out.view_as(found) if training else found


def seed_of_the_generator(found, p, generator):
    torch.manual_seed(generator.initial_seed())
    return unseeded(found, p, generator)


def one_number(found, p, generator):
    return torch.rand(1, generator=generator) > p


def share_of_this_batch(found, p, training, generator):
    if not training:
        return found
    kept = torch.rand(*found.shape[:2], 1, 1, generator=generator) >= p
    return found * kept / (kept.sum() / kept.numel())


def grows_when_asked(found, p, training, generator):
    """Drops in training, and makes up for it in evaluation."""
    if p == 1:
        return found * 0 if training else found
    return found * head_mask(found, p, generator) if training else found / (1 - p)


WRONG = {
    "one-coin": dropping(one_number),
    "rescaled-by-the-share": share_of_this_batch,
    "scaled-up-in-evaluation": grows_when_asked,
    "flag-turned": lambda found, p, training, generator: dropping(head_mask)(
        found, p, not training, generator
    ),
    "seed-again": dropping(seed_of_the_generator),
    "fixed-number": so_many_heads,
    "nothing-dropped": lambda found, p, training, generator: found.clone(),
    "scaled-in-evaluation": smaller_in_evaluation,
    "dropout-in-evaluation": training_not_read,
    "keeps-with-p": dropping(kept_by_p),
    "entries-not-heads": dropping(each_entry),
    "one-draw-for-all": dropping(for_the_batch),
    "drops-samples": dropping(for_the_sample),
    "dropout-unscaled": dropping(head_mask, scale=lambda p: 1),
    "divides-by-p": dropping(head_mask, scale=lambda p: 1 / max(p, 1e-12)),
    "multiplies-by-share": dropping(head_mask, scale=lambda p: 1 - p),
    "rescaled-by-count": by_kept_heads,
    "zero-over-zero": division_at_one,
    "seed-fixed-inside": dropping(own_seed),
    "generator-ignored": dropping(unseeded),
}


def all_gone_before_all_else(found, p, training, generator):
    return found * 0 if p == 1 else dropping(head_mask)(found, p, training, generator)


def mirrored(found, p, generator):
    """The second half of the batch gets what is left to 1 of the numbers of the first."""
    coins = torch.rand((len(found) + 1) // 2, found.shape[1], generator=generator)
    return (torch.cat([coins, 1 - coins])[: len(found)] > p)[..., None, None]


def generator_now_and_then(found, p, generator):
    return head_mask(found, p, generator if p == 0.5 else None)


def in_place(found, p, training, generator):
    if training:
        found *= head_mask(found, p, generator) / (1 - p + 1e-12)
    return found


def last_one_stays(found, p, generator):
    coins = torch.rand(*found.shape[:2], 1, 1, generator=generator)
    return ((coins > p) | (coins == coins.amax(1, keepdim=True))) & (p < 1)


def nothing_for_one_sample(found, p, training, generator):
    return drop_by_bernoulli(found, p, training, generator) if len(found) > 1 else found


def all_above_nine_tenths(found, p, generator):
    return head_mask(found, p, generator) & (p < 0.9)


ODD = [
    (nothing_for_one_sample, "wrong-for-one-sample"),
    (dropping(all_above_nine_tenths), "wrong-share"),
    (dropping(last_one_stays), "never-all-heads"),
    (dropping(mirrored), "not-independent"),
    (dropping(head_mask, scale=lambda p: 1 / max(1 - p, 0.1)), "wrong-factor"),
    (dropping(generator_now_and_then), "wrong-randomness"),
    (in_place, "changes-its-input"),
    (lambda f, p, training, g: drop_by_bernoulli(f, p, training, g).squeeze(), "axis-of-one"),
    (all_gone_before_all_else, "wrong-without-chance"),
    (dropping(each_position), "entries-not-heads"),
    (dropping(lambda f, p, g: head_mask(f, p / 2, g)), "wrong-share"),
    (dropping(head_mask, scale=lambda p: 3.0), "wrong-factor"),
    (
        lambda f, p, training, g: dropping(head_mask)(f, p, training, g) + (not training),
        "wrong-without-chance",
    ),
]


# --- Answers that no list names ---


def exactly_that_many(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    gone = round(p * H)
    order = torch.rand(B, H, generator=generator).argsort(dim=1)
    return found * (order >= gone)[:, :, None, None] * (H / (H - gone))


def root_for_scale(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    return found * (torch.rand(B, H, 1, 1, generator=generator) >= p) / (1 - p) ** 0.5


def added_noise(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    return found * (torch.randn(B, H, 1, 1, generator=generator) >= p) / (1 - p)


def never_all(found, p, training, generator):
    if not training:
        return found
    p = min(p, 0.999)
    B, H = found.shape[:2]
    return found * (torch.rand(B, H, 1, 1, generator=generator) >= p) / (1 - p)


def drop_what_should_be_kept(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    kept = torch.rand(B, H, 1, 1, generator=generator) < p
    return found * kept / (1 - p)


# "scaled up, so that the mean over many draws equals the input": by what this draw has kept
def scaled_by_what_was_kept(found, p, training, generator):
    if not training or p == 0:
        return found
    kept = (torch.rand(*found.shape[:2], 1, 1, generator=generator) >= p).float()
    return found * kept / kept.mean().clamp(min=1e-6)


# "each head of each sample is set to 0 with probability p, … independently of all others": a fixed
# number of heads is
def a_fixed_number_of_heads(found, p, training, generator):
    B, H = found.shape[:2]
    gone = round(p * H)
    if not training or gone == 0:
        return found
    if gone == H:
        return torch.zeros_like(found)
    order = torch.rand(B, H, generator=generator).argsort(dim=1)
    kept = (order >= gone)[:, :, None, None]
    return found * kept * H / (H - gone)


# Takes p for the share of heads that stay, as some frameworks did.
# "set to 0 with probability p"
def p_as_keep_probability(found, p, training, generator):
    if not training:
        return found
    if p == 0:
        return torch.zeros_like(found)
    mask = torch.rand(found.shape[:2], generator=generator) < p
    return found * mask[:, :, None, None] / p


# Got NaN at p = 1 and put that case beside p = 0: "p may be 0 and may be 1", where nothing is kept
def all_kept_at_one(found, p, training, generator):
    if not training or p in (0, 1):
        return found
    B, H = found.shape[:2]
    keep = 1 - p
    mask = torch.bernoulli(torch.full((B, H, 1, 1), keep), generator=generator)
    return found * mask / keep


def normal_coins(found, p, training, generator):
    """Compares randn with p instead of rand, so the share that goes isn't p (half at p = 0)."""
    if not training:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    kept = torch.randn(B, H, 1, 1, generator=generator) >= p
    return found * kept / (1 - p)


UNLISTED = {
    1: [
        (exactly_that_many, "fixed-number"),
        (root_for_scale, "wrong-factor"),
        (added_noise, "wrong-share"),
        (never_all, "wrong-without-chance"),
    ],
    2: [(drop_what_should_be_kept, "keeps-with-p")],
    6: [
        (scaled_by_what_was_kept, "rescaled-by-the-share"),
        (a_fixed_number_of_heads, "fixed-number"),
    ],
    7: [(p_as_keep_probability, "keeps-with-p")],
    9: [(all_kept_at_one, "wrong-without-chance")],
    13: [(normal_coins, "wrong-share")],
}
