NAMES = "conftest sitecustomize usercustomize torch numpy nbformat json course_lib nbgrader".split()


def change(notebook, given):
    trap = (
        "from pathlib import Path\n"
        f"Path({str(given.root / 'planted.txt')!r}).write_text('planted')\n"
    )
    given.extra |= {f"{name}.py": trap for name in NAMES}
    given.extra["pytest.ini"] = "[pytest]\naddopts = -p conftest\n"
    given.extra["site.pth"] = "import conftest\n"
