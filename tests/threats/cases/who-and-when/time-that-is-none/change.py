def change(notebook, given):
    given.extra["timestamp.txt"] = "9" * 900
