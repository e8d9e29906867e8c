"""The seventeenth set: two slips a task with code, but for chapter 10 and 08/train.

It was written from the exercises alone and put aside as a whole, to say what judges tell of what
nobody tuned them on. No judge is to be improved with it.
"""

ACCEPTED = {
    "constant_must_come_back_unchanged": (
        "Of the blocks that the judge hands over, there is none that it gets wrong."
    ),
}
