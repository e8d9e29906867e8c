from nbformat.v4 import new_output


def change(notebook, given):
    code = "def bigram_probabilities(*_): return 1"
    notebook.cells[0]["attachments"] = {"a.py": {"text/x-python": code}}
    notebook.cells[1].metadata["name"] = code
    notebook.cells[1]["outputs"] = [new_output("display_data", {"text/x-python": code})]
