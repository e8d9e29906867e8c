"""The eighth set: slips of students. A third, drawn by lot, was aside until the judges had been
mended after the rest.
"""

ASIDE_SEED = 20261123

# The statement, read again: a hint tells norms by the end of their names.
BREAKS_NO_CONTRACT = frozenset({("08/initialise", "norms_known_by_their_name")})
