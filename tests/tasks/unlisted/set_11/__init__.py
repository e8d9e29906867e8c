"""The eleventh set: slips of students in chapters 01 to 05 and 11 to 13.

It was written when the judges had been improved after the tenth one, and all of it was put aside
until they had spoken.
"""
