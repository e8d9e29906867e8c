"""Where `tqdm` chooses the bar that fits; here there is one."""

from tqdm import tqdm, trange

__all__ = ["tqdm", "trange"]
