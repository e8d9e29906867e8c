from nbformat.v4 import new_code_cell


def change(notebook, given):
    notebook.cells.append(new_code_cell("x = 1\n" * 500_000))
