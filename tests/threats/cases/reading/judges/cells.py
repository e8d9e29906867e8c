# %% top
import importlib
import pkgutil

import course_lib.tasks

for module in pkgutil.walk_packages(course_lib.tasks.__path__, "course_lib.tasks."):
    if "judg" in module.name:
        print(importlib.import_module(module.name))
