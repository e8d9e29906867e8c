"""Chapter 09, Names: seven graded tasks."""
