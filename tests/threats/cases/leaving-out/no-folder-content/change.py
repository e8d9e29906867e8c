def change(notebook, given):
    given.name = "notes.txt"
