"""The tenth set: slips of students, all put aside until the judges had spoken."""
