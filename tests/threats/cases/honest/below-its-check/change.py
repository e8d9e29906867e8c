import nbformat
from nbformat.v4 import new_code_cell


def change(notebook, given):
    path = given.root / "exercises" / given.assignment / f"{given.assignment}.ipynb"
    released = {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells}
    cells = []
    for cell in notebook.cells:
        filled = cell.source
        if filled != released.get(cell.id) and cell.cell_type == "code":
            cell.source = released[cell.id]
            cells.append(new_code_cell(filled))
    notebook.cells += cells
