import json


def change(notebook, given):
    given.content = json.dumps(notebook).encode("utf-16")
