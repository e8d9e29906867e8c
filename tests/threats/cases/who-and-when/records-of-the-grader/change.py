import json


def change(notebook, given):
    record = json.dumps({"student": "000-neighbour", "points": 100, "key": "x", "when": "2001"})
    for name in ("collected.json", ".collected.json", ".grading/keys.json", "graded.json"):
        given.extra[name] = record
    given.extra["gradebook.db"] = "SQLite format 3"
    given.extra[".grading.lock"] = "1"
