"""What a project's page has beside its tasks: a beginning from earlier answers, and training."""

STARTS: dict[str, tuple[str, ...]] = {
    "my-gpt/model": (
        "05/scores",
        "05/weights",
        "05/head",
        "05/positions",
        "06/concat",
        "06/projection",
        "06/split",
        "06/merge",
        "06/dropout",
        "06/fused",
        "07/layer-norm",
        "07/feed-forward",
        "07/residual",
        "07/pre-norm-block",
        "08/config",
        "08/initialise",
    ),
    "my-gpt/train": ("08/schedule", "08/train"),
    "my-gpt/write": ("08/top-k", "08/top-p", "08/generate"),
}
"""Task of a project to the tasks whose answers its cell may begin with, in the book's order.

Their functions were written for questions of their own, so joining them is the reader's work.
"""

TRAINS = ("my-gpt/model", "my-gpt/train")
"""Tasks below which the page trains what was written."""

FIGURES = ("live_model", "looking_inside")
"""What shows a model that has been trained there."""

TITLE = "A GPT that I wrote"
"""The heading of the page that it is saved as."""

NAMES = frozenset(task.partition("/")[0] for task in STARTS)
"""Assignments that are projects."""
