def change(notebook, given):
    given.extra["timestamp.txt"] = "0001-01-01 00:00:00 UTC+14"
