"""The fourteenth set: slips of students in all chapters, one a task.

It was written when the judges had been improved after the thirteenth one, and all of it was put
aside until they had spoken. Two thirds give the same results as a slip of an earlier set.
"""
