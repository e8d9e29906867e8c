"""Chapter 11, Looking inside: seven graded tasks."""
