def change(notebook, given):
    given.content = bytes(range(256)) * 100
