# %% bottom
import matplotlib.pyplot as plt
from tqdm.auto import tqdm

plt.plot([1, 2, 3])
plt.show()
for _ in tqdm(range(3)):
    pass
