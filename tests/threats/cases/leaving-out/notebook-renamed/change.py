def change(notebook, given):
    given.name = "my homework (final).ipynb"
