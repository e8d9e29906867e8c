# %% top
from concurrent.futures import ThreadPoolExecutor

import torch

torch.set_num_threads(2)
with ThreadPoolExecutor(8) as pool:
    print("sum", sum(pool.map(lambda n: n * n, range(100))))
print((torch.randn(256, 256) @ torch.randn(256, 256)).shape)
