"""Chapter 04, The bigram baseline: six graded tasks."""
