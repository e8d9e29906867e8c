def change(notebook, given):
    moved = [cell for cell in notebook.cells if cell.source.startswith("check(")]
    notebook.cells = moved + [cell for cell in notebook.cells if cell not in moved]
