# %% top
import os

for folder in ("HOME", "ROOT", "/tmp", "/run", "/etc"):
    for here, folders, files in os.walk(folder):
        for name in files:
            if "token" in name or "secret" in name:
                try:
                    print(open(os.path.join(here, name)).read(1000))
                except Exception:
                    pass
