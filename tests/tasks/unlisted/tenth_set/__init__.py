"""The tenth set: slips of students, written from the statements; all of it aside at first."""
