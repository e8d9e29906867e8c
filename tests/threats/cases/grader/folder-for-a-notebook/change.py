def change(notebook, given):
    given.special = "folder"
