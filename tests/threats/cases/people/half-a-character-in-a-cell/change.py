from nbformat.v4 import new_code_cell


def change(notebook, given):
    import json

    notebook.cells.append(new_code_cell("words = 'SURROGATE'"))
    given.content = json.dumps(notebook).replace("SURROGATE", "\\ud800").encode()
