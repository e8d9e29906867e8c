"""The fourth set of unlisted answers: 135 of them, written from the tasks' statements alone.

They came when the judges had been mended after the first three sets, and before anybody who wrote
them had read a judge. Each breaks a sentence of its statement, which stands in the comment before
it. A third was put aside by lot (`ASIDE_SEED`), and was not asked until the judges had been
mended after the others.
"""

ASIDE_SEED = 4

# Written as wrong, and read again: the statement does not say that the padding of a decoder may be
# one of the tokens of a text, so to leave it out of the targets breaks nothing.
BREAKS_NO_CONTRACT = {("13/teacher", "every_pad_is_no_target")}
