import copy


def change(notebook, given):
    for cell in [cell for cell in notebook.cells if cell.source.startswith("check(")]:
        again = copy.deepcopy(cell)
        again.id = cell.id + "-again"
        notebook.cells.append(again)
