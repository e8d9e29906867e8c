# %% bottom
import inspect

import torch


def own(x):
    """Says what it does."""
    return x


help(own)
print(inspect.getsource(own), inspect.signature(own))

# %% bottom
own??

# %% bottom
torch.softmax?
