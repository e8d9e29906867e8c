"""Chapter 12, Faster, with the same numbers: eight graded tasks."""
