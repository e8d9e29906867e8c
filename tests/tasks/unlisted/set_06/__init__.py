"""The sixth set, written when inputs had been drawn at more edges of what tasks allow.

One half are slips of a student who half understood, the other half are right nearly everywhere and
wrong where one sentence of the statement would catch it. That sentence is quoted in the comment
before each, and each was seen to differ from a right answer on a call that the statement allows. A
third, drawn by lot, was put aside.
"""

# No check asks for these: scores and coordinates far beyond those of any lesson, the letter
# ß, a caller who writes into what was returned, weights that are all on padding.
STILL_ACCEPTED = {
    "hidden_after_the_softmax",
    "same_matrix_for_every_caller",
    "squares_multiplied_out",
    "padding_taken_out_of_the_weights",
    "folded_case",
    "padding_times_zero",
}
