# %% top
import importlib
import pkgutil

import course_tasks

for module in pkgutil.walk_packages(course_tasks.__path__, "course_tasks."):
    if "judg" in module.name:
        print(importlib.import_module(module.name))
