def change(notebook, given):
    pass
