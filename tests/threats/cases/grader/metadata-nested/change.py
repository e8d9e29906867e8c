import json


def change(notebook, given):
    notebook.metadata["deep"] = "HERE"
    notebook.cells[1].metadata["deep"] = "HERE"
    deep = '{"a":' * 400 + "1" + "}" * 400
    given.content = json.dumps(notebook).replace('"HERE"', deep).encode()
