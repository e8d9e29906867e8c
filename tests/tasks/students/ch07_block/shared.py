"""What students of several tasks of chapter 07 write alike."""

import torch


def norm_by_loop(x, gain, shift, groups, eps):
    y = torch.empty_like(x)
    size = x.shape[-1] // groups
    for g in range(groups):
        these = slice(g * size, (g + 1) * size)
        part = x[..., these]
        mean = part.sum(-1, keepdim=True) / size
        variance = ((part - mean) ** 2).sum(-1, keepdim=True) / size
        y[..., these] = (part - mean) / torch.sqrt(variance + eps)
    return y * gain + shift
