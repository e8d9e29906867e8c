def change(notebook, given):
    given.name = "one.ipynb"
    given.extra["two.ipynb"] = "{}"
