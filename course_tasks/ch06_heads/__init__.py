"""Chapter 06, Many heads: six graded tasks."""
