from nbformat.v4 import new_markdown_cell


def change(notebook, given):
    for place, cell in enumerate(notebook.cells):
        if cell.source.startswith("check("):
            notebook.cells[place] = new_markdown_cell("fine", metadata=cell.metadata)
