"""What several tasks of chapter 04 share: how often an answer draws."""

from __future__ import annotations

# Rows that share one distribution: enough that chance and mistake cannot be taken for each other,
# few enough that a Python loop over them takes a fraction of a second.
DRAWS = 3000
