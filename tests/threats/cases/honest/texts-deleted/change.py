def change(notebook, given):
    notebook.cells = [
        cell for cell in notebook.cells if cell.cell_type == "code" or "nbgrader" in cell.metadata
    ]
