def change(notebook, given):
    notebook.metadata["authors"] = [{"name": "000-neighbour"}]
    notebook.metadata["nbgrader"] = {"student": "000-neighbour", "assignment": "01-averages"}
    for cell in notebook.cells:
        cell.metadata["student"] = "000-neighbour"
