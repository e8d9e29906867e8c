"""Chapter 13, Two sequences: seven graded tasks."""
