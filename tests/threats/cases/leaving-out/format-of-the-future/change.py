import json


def change(notebook, given):
    notebook["nbformat"], notebook["nbformat_minor"] = 9, 99
    given.content = json.dumps(notebook).encode()
