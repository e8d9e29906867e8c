def change(notebook, given):
    given.extra["timestamp.txt"] = "2020-01-01 00:00:00 UTC\n" * 200_000
