# %% top
import sys
import warnings

warnings.warn("old function")
print("careful", file=sys.stderr)

# %% before-each
import warnings

warnings.warn("about to define something")
