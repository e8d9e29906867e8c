from nbformat.v4 import new_code_cell


def change(notebook, given):
    notebook.cells += [new_code_cell("x = 1") for _ in range(1500)]
