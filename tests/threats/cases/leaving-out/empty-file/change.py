def change(notebook, given):
    given.content = b""
