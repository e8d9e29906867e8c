def change(notebook, given):
    trap = (
        "from pathlib import Path\n"
        f"Path({str(given.root / 'planted.txt')!r}).write_text('planted')\n"
    )
    for name in ("nbgrader_config.py", "jupyter_nbconvert_config.py", "jupyter_config.py"):
        given.extra[name] = trap + "c = get_config()\n"
    given.extra["nbgrader_config.json"] = '{"CourseDirectory": {"root": "/"}}'
