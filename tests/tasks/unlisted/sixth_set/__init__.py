"""The sixth set of unlisted answers, written from the tasks' statements alone.

Whoever wrote them had read no judge and no list. One half are slips of a student who half
understood, the other half edges (`EDGES`): right nearly everywhere, and wrong where one sentence of
the statement would catch it. That sentence stands in the comment before each, and each was seen to
differ from a right answer on a call that the statement allows. A third was put aside by lot
(`ASIDE_SEED`), and was not asked until the judges had been mended after the others.
"""

ASIDE_SEED = 61

# The statements, read again: of `08/initialise` a bias is what is called so, and in `11/which-head`
# no head's removal lowers the loss of a model that knows its list.
BREAKS_NO_CONTRACT = frozenset(
    {
        ("08/initialise", "only_what_is_called_bias"),
        ("11/which-head", "largest_change_of_the_loss"),
    }
)

# What no check asks: scores, coordinates and rates far beyond those of any lesson, the letter ß, a
# caller who writes into what was returned, weights that are all on padding.
STILL_ACCEPTED = frozenset(
    {
        ("01/masked-softmax", "hidden_after_the_softmax"),
        ("01/window", "same_matrix_for_every_caller"),
        ("02/smoother", "squares_multiplied_out"),
        ("04/sgd-step", "stopped_when_the_loss_rises"),
        ("05/cross", "padding_taken_out_of_the_weights"),
        ("09/split", "folded_case"),
        ("13/alignment", "padding_times_zero"),
    }
)
