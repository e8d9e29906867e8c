# %% bottom
import sys

sys.setrecursionlimit(10_000)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


print("depth", depth(2000))
