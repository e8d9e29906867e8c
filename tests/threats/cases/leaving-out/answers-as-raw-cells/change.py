def change(notebook, given):
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith("answer-"):
            cell["cell_type"] = "raw"
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
