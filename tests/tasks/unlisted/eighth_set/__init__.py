"""The eighth set: slips of students. A third, drawn by lot, was aside until the judges had been
mended after the rest.
"""

ASIDE_SEED = 20261123

# Answers that on closer reading break no sentence of their statements.
BREAKS_NO_CONTRACT: frozenset[tuple[str, str]] = frozenset()
