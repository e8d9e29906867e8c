from nbformat.v4 import new_markdown_cell


def change(notebook, given):
    path = given.root / "secret.txt"
    notebook.cells.append(new_markdown_cell(f"![x](file://{path})\n<iframe src='{path}'></iframe>"))
