# %% answer
import torch


def NAME(*given, **named):
    return torch.zeros(2**23)
