# %% top
import re

re.match("(a+)+$", "a" * 64 + "b")
