import copy

import nbformat


def change(notebook, given):
    path = given.root / "exercises" / given.assignment / f"{given.assignment}.ipynb"
    stale = nbformat.read(path, as_version=4).cells
    for cell in stale:
        cell["id"] = f"stale-{cell['id']}"
    notebook.cells = copy.deepcopy(stale) + notebook.cells
