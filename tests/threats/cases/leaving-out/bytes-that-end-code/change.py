from nbformat.v4 import new_code_cell


def change(notebook, given):
    odd = ("x = 1\0", "\x1a", "\x0c", "\u2028x = 1", "\ufeffx = 1", "\r\n\r")
    notebook.cells[2:2] = [new_code_cell(source) for source in odd]
