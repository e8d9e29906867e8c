def change(notebook, given):
    given.content = b"[" * 200_000
