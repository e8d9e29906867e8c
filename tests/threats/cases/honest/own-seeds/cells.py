# %% before-each
import random

import numpy as np
import torch

random.seed(1)
np.random.seed(1)
torch.manual_seed(1)
torch.set_default_dtype(torch.float32)
