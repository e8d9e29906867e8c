from nbformat.v4 import new_markdown_cell


def change(notebook, given):
    notebook.cells.append(new_markdown_cell("It cannot stay there: rare pairs were counted once."))
