import json


def change(notebook, given):
    for cell in notebook.cells:
        cell["id"] = "same"
    given.content = json.dumps(notebook).encode()
