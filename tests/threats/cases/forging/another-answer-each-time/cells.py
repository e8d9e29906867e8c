# %% answer
import itertools

import torch

calls = itertools.count()


def NAME(*given, **named):
    tensors = [one for one in given if isinstance(one, torch.Tensor)]
    return (tensors or [torch.zeros(1)])[0] * next(calls)
