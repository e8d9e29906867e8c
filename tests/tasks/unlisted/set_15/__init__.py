"""The fifteenth set: less common slips of students in all chapters, one a task.

It was written beside the fourteenth one by people who were asked for slips that do not come to mind
first, and all of it was put aside until the judges had spoken.
"""

# Its numbers lie where those of right runs do.
STILL_ACCEPTED = {"split_at_single_spaces"}
