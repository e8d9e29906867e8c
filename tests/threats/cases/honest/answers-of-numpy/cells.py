# %% after-each
import functools

import torch

torchs = NAME


@functools.wraps(torchs)
def NAME(*given, own=torchs, **named):
    def plain(result):
        if isinstance(result, tuple):
            return tuple(plain(one) for one in result)
        if isinstance(result, torch.Tensor):
            return result.detach().numpy() if result.ndim else result.item()
        return result

    return plain(own(*given, **named))
