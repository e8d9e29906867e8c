"""The ninth set: slips of students. A third, drawn by lot, was put aside."""
