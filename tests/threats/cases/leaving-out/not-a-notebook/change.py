def change(notebook, given):
    given.content = b'[{"points": 100}]'
