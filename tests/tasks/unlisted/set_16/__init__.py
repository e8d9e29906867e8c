"""The sixteenth set: slips of students in chapters 06 to 09, one a task but 08/train.

It was written when the judges had been improved after the fifteenth one, and all of it was put
aside until they had spoken. Half are slips that come to mind first, and half are less common.
"""
