"""Assignments: released from solutions, and checked where students work."""
