"""The fifth set of unlisted answers to chapters 07 to 13, written from the tasks' statements alone.

They came when the judges had been mended after four sets, and before whoever wrote them had read a
judge or a list. Each breaks a sentence of its statement, which stands in the comment before it. A
third was put aside by lot (`ASIDE_SEED`), and was not asked until the judges had been mended after
the others.
"""

ASIDE_SEED = 5

# Written as wrong, and read again. An inspector may look at any two inputs that begin alike, and
# changing the last position makes such a pair. Which of equally likely symbols belong to a set, and
# that a matrix may stand in a model without a layer, the statements do not say. That a row has a
# first word, the last one says.
BREAKS_NO_CONTRACT = {
    ("07/find-fault", "only_the_last_position_is_changed"),
    ("08/top-p", "ties_with_the_last_are_kept"),
    ("08/initialise", "only_what_is_called_weight"),
    ("13/positions", "first_word_by_argmax"),
}
