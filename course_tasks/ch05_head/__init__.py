"""Chapter 05, One head: six graded tasks."""
