"""What students hand in: slips alone, written from the statements; all of it aside at first."""
