def change(notebook, given):
    notebook.cells[0].metadata["nbgrader"] = ["grade", "solution"]
    notebook.cells[1].metadata["nbgrader"] = {"grade_id": {"a": 1}, "points": "many"}
    notebook.metadata["celltoolbar"] = 7
