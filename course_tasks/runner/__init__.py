"""The only part of grading that lies inside the sandbox, beside student code."""
