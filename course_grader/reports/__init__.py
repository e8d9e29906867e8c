"""Pages that people see: a student's feedback, and the class."""
