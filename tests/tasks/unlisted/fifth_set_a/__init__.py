"""The fifth set of unlisted answers, chapters 01 to 06, written from the tasks' statements alone.

They came when the judges had been mended after the first four sets, and before whoever wrote them
had read a judge or one of the lists. Each breaks a sentence of its statement, which stands in the
comment before it. A third was put aside by lot (`ASIDE_SEED`), and was not asked until the judges
had been mended after the others.
"""

ASIDE_SEED = 5

# Written as wrong, and read again: "Rounding is no fault" may be read as speaking of all weights,
# and this one lets nothing pass that is larger than the 1e-5 of the statement.
BREAKS_NO_CONTRACT = {("01/find-fault", "future_with_tolerance")}
