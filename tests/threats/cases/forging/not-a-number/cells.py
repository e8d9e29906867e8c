# %% answer
import torch


def NAME(*given, **named):
    return torch.full((3, 3), float("nan"))
