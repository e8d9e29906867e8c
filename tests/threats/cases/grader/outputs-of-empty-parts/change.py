import json


def change(notebook, given):
    notebook.cells[1]["outputs"] = ["HERE"]
    parts = ",".join(["{}"] * (8 * 2**20 // 3))
    given.content = json.dumps(notebook).replace('"HERE"', parts).encode()
