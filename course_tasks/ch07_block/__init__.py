"""Chapter 07, The block: six graded tasks."""
