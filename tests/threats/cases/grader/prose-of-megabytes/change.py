from nbformat.v4 import new_markdown_cell


def change(notebook, given):
    notebook.cells += [new_markdown_cell("*_[`<" * 39_000) for _ in range(40)]
