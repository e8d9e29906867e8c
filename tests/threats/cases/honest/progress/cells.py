# %% bottom
import sys

for number in range(3000):
    print(f"\r{number:5d} of 3000 {'#' * (number // 100)}", end="", file=sys.stderr)
print("done")
