from nbformat.v4 import new_code_cell


def change(notebook, given):
    # None of them is run: the first line of each is an error.
    notebook.cells += [new_code_cell("1/0\n" + "def f(): x=[1]\n" * 13_000) for _ in range(40)]
