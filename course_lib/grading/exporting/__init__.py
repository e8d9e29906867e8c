"""From the gradebook to what a learning platform takes."""
