"""The seventh set: slips of students alone, without edges. All of it was put aside until the judges
had spoken, and none of them was changed for it before.
"""
