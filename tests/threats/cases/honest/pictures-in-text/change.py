import base64

from nbformat.v4 import new_markdown_cell


def change(notebook, given):
    cell = new_markdown_cell("![my notes](attachment:notes.png)")
    cell["attachments"] = {"notes.png": {"image/png": base64.b64encode(b"x" * 100_000).decode()}}
    notebook.cells.insert(3, cell)
