def change(notebook, given):
    given.extra["timestamp.txt"] = "9999-12-31 23:59:59.999999 UTC-12"
