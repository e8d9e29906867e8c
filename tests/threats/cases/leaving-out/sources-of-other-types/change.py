import json


def change(notebook, given):
    for cell, source in zip(notebook.cells[3:], (7, [["x"]], None, {"a": 1}, True)):
        cell["source"] = source
    given.content = json.dumps(notebook).encode()
