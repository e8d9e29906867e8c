from nbformat.v4 import new_output


def change(notebook, given):
    notebook.cells[1]["outputs"] = [new_output("stream", text="x" * 11 * 2**20)]
