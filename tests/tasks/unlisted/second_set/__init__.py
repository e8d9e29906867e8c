"""Another set of wrong answers that no list names, written without a look at the judges.

As in `unlisted.chNN`, each module holds `WRITTEN`: task -> list of answers. With two or three
answers a task, every third of a *chapter* was put aside, in the order in which they stand.
"""
