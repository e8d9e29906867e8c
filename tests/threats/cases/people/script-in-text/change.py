from nbformat.v4 import new_markdown_cell


def change(notebook, given):
    notebook.cells.append(new_markdown_cell("<script>alert('SCRIPT')</script>\n[x](javascript:alert(1))"))
