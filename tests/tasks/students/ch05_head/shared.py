"""What students of several tasks of chapter 05 write alike."""

INF = float("inf")
