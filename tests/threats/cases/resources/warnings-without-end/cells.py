# %% answer
import sys
import warnings


def NAME(*given, **named):
    number = 0
    while True:
        number += 1
        warnings.warn(f"{number} " + "x" * 1000)
        print("x" * 10_000, file=sys.stderr)
