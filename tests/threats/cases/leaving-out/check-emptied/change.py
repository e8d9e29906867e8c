def change(notebook, given):
    for cell in [cell for cell in notebook.cells if cell.source.startswith("check(")]:
        cell.source = ""
