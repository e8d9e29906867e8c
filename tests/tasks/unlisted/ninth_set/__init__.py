"""The ninth set: slips of students. A third, drawn by lot, was aside until the judges had been
mended after the rest.
"""

ASIDE_SEED = 20261124

BREAKS_NO_CONTRACT: frozenset[tuple[str, str]] = frozenset()
