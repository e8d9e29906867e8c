"""The eleventh set: slips of students in chapters 01 to 05 and 11 to 13; all aside at first."""
