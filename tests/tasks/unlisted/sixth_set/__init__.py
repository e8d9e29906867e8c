"""The sixth set of unlisted answers, written from the tasks' statements alone.

Whoever wrote them had read no judge and no list. One half are slips of a student who half
understood, the other half edges (`EDGES`): right nearly everywhere, and wrong where one sentence of
the statement would catch it. That sentence stands in the comment before each, and each was seen to
differ from a right answer on a call that the statement allows. A third was put aside by lot
(`ASIDE_SEED`), and was not asked until the judges had been mended after the others.
"""

ASIDE_SEED = 61

BREAKS_NO_CONTRACT = frozenset()
