"""The only part of grading that runs inside the sandbox, beside student code."""
