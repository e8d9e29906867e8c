# %% bottom
import torch

much = torch.ones(300 * 2**18)
print("sum", int(much.sum()))
del much
