def change(notebook, given):
    trap = (
        "from pathlib import Path\n"
        f"Path({str(given.root / 'planted.txt')!r}).write_text('planted')\n"
    )
    given.extra[".ipython/profile_default/startup/00-first.py"] = trap
    given.extra[".ipython/profile_default/ipython_config.py"] = trap
    given.extra[".jupyter/nbgrader_config.py"] = trap
    given.extra[".config/matplotlib/matplotlibrc"] = "backend: module://00-first\n"
