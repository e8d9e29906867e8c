import json


def change(notebook, given):
    for cell in notebook.cells[3:8]:
        cell["cell_type"] = "banana"
    given.content = json.dumps(notebook).encode()
