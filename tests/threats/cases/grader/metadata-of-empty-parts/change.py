import json


def change(notebook, given):
    notebook.metadata["widgets"] = ["HERE"]
    parts = ",".join(["[]"] * (8 * 2**20 // 3))
    given.content = json.dumps(notebook).replace('"HERE"', parts).encode()
