import json


def change(notebook, given):
    notebook.cells[1]["execution_count"] = "HERE"
    notebook.cells[4].metadata["nbgrader"]["points"] = "HERE"
    notebook.metadata["version"] = "HERE"
    given.content = json.dumps(notebook).replace('"HERE"', "1" + "0" * 4000).encode()
