from nbformat.v4 import new_output


def change(notebook, given):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = 99
            cell.outputs = [new_output("error", ename="NameError", evalue="x", traceback=["x"])]
