# %% top
import sys

sys.stdout.close()
sys.stderr.close()
sys.stdout = sys.stderr = None
