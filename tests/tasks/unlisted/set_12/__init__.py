"""The twelfth set: slips of students in all chapters, one a task.

It was written when the judges had been improved after the eleventh one, and all of it was put aside
until they had spoken.
"""
