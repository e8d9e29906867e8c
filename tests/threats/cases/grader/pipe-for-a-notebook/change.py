def change(notebook, given):
    given.special = "pipe"
