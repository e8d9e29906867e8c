"""The sixth set of unlisted answers, chapters 01 to 06, written from the tasks' statements alone.

They came when the judges had been mended after the first five sets, and before whoever wrote them
had read a judge or one of the lists. Each breaks a sentence of its statement, which stands in the
comment before it. A third was put aside by lot (`ASIDE_SEED`), and was not asked until the judges
had been mended after the others.
"""

ASIDE_SEED = 61

BREAKS_NO_CONTRACT = frozenset()
