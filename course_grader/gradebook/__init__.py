"""What lasts: nbgrader's database, written by one writer, read by everybody."""
