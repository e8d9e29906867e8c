import base64

from nbformat.v4 import new_output


def change(notebook, given):
    picture = base64.b64encode(b"x" * 3_700_000).decode()
    notebook.cells[1]["outputs"] = [new_output("display_data", {"image/png": picture})]
