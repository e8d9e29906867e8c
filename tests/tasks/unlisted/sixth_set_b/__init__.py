"""The sixth set of unlisted answers, chapters 07 to 09 and 11 to 13, from the statements alone.

Whoever wrote them had read no judge and no list. One half are slips of a student who half
understood, the other half edges: right nearly everywhere, and wrong where one sentence of the
statement would catch it. That sentence stands in the comment before each. A third was put aside
by lot (`ASIDE_SEED`).
"""

ASIDE_SEED = 62

BREAKS_NO_CONTRACT = frozenset()
