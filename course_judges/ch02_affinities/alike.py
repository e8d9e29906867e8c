"""Judges 02/alike: which word is most like which."""

from __future__ import annotations

from dataclasses import replace

from course_judges import observations
from course_judges.ch02_affinities.sections import ANGLE
from course_judges.judging import mistake
from course_judges.observations import Numbers, lies, measured, measured_otherwise, middle, noted
from course_judges.right_numbers import told_by_the_right_ones
from course_judges.wording import number

RANGES, SLIPS = measured(__file__)


_letters_once = measured_otherwise(
    RANGES,
    "You probably noted only whether a word contains a letter, and not how often.",
    "The task describes a word by how often it contains each letter, so *letter* has a 2 for "
    "t and a 2 for e. Add 1 for each letter of the word.",
    SLIPS["letters-once"],
    SLIPS["letters-once (lengths too)"],
)

_short_words_too = measured_otherwise(
    RANGES,
    "You probably kept words of one and two letters.",
    "Words such as *a* and *of* are frequent, so they take up many of the 300 places. Leave "
    "them out before you look for the 300 most frequent words.",
    SLIPS["short-words-too"],
)

_filtered_last = measured_otherwise(
    RANGES,
    "You probably took the 300 most frequent words first and left out the short ones afterwards.",
    "You are left with fewer than 300 words, and the rarer and longer ones are missing. Leave "
    "out words of one and two letters before you look for the 300 most frequent ones.",
    SLIPS["filtered-last"],
)

_capitals_cut = measured_otherwise(
    RANGES,
    "You probably looked for the letters a to z without making the text lower case first.",
    "Capitals are then cut off, so that *What* becomes *hat*. Make the text lower case before "
    "you look for its words.",
    SLIPS["capitals-cut"],
)


_first_words = measured_otherwise(
    RANGES,
    "You probably took the first 300 words of the text instead of the most frequent ones.",
    "Count first: `Counter(words).most_common(300)`.",
    SLIPS["first-words"],
)

_four_letters = measured_otherwise(
    RANGES,
    "You probably left out words of three letters, too.",
    "Words of at least three letters are asked for, so three are enough: `len(word) >= 3`.",
    SLIPS["four-letters"],
)

_split_at_spaces = measured_otherwise(
    RANGES,
    "You probably split the text at spaces, so that words beside punctuation got lost.",
    "A word that is followed by a comma holds more than letters then. "
    '`re.findall("[a-z]+", …)` of the text in lower case finds all of them.',
    SLIPS["split-at-spaces"],
)

_another_number_of_words = measured_otherwise(
    RANGES,
    "You probably took another number of words than 300.",
    "Frequent words are short, so with fewer words all lengths get smaller, and with more of them "
    "larger.",
    SLIPS["another-number-of-words"],
    SLIPS["another-number-of-words (1,000)"],
)

_mean_of_other_words = measured_otherwise(
    RANGES,
    "You probably took `words` from other words than the 300, such as all words of the text.",
    "The lengths of the chosen words are right. `words` is the mean length of the same 300 words, "
    "each counted once.",
    SLIPS["mean-of-other-words"],
    SLIPS["mean-of-other-words (each once)"],
    SLIPS["mean-of-other-words (three letters)"],
)

_weighed_by_frequency = measured_otherwise(
    RANGES,
    "You probably let a word count as often as it occurs in the text.",
    "How frequent a word is decides only whether it is among the 300. After that, each of them "
    "counts once.",
    SLIPS["weighed-by-frequency"],
)

_vector_lengths = measured_otherwise(
    RANGES,
    "You probably took the lengths of the vectors for the lengths of the words.",
    "The length of a word is its number of letters, which is the sum of its vector, not its norm.",
    SLIPS["vector-lengths"],
)

_medians = measured_otherwise(
    RANGES,
    "You probably took medians instead of means.",
    "A median of whole numbers is one of them, or lies halfway between two.",
    SLIPS["medians"],
)

_chosen_once = measured_otherwise(
    RANGES,
    "You probably counted each chosen word once, however often it was chosen.",
    "Each of the 300 words chooses one, which makes 300 lengths. A word that is chosen ten times "
    "counts ten times, so don't take a set of them.",
    SLIPS["chosen-once"],
)

_cosine_keeps_lengths = measured_otherwise(
    RANGES,
    "Your cosine probably still contains the length of the other word.",
    "It chooses words that are as long as those that the dot product chooses. Dividing by one "
    "number, or only by the length of the word that is compared, doesn't change which of the "
    "others is largest. Divide each vector by its own length first, then multiply all pairs.",
    SLIPS["cosine-keeps-lengths"],
    SLIPS["cosine-keeps-lengths (one number)"],
)

_norm_of_channels = measured_otherwise(
    RANGES,
    "You probably took the norms along the words instead of along the letters.",
    "A word is a row of 26 numbers, and each row is divided by its own length: "
    "`x.norm(dim=1, keepdim=True)`.",
    SLIPS["norm-of-channels"],
)

_another_length = measured_otherwise(
    RANGES,
    "You probably divided by something that grows faster than the length of a vector.",
    "Short words win then. A vector's length is the root of the sum of squares, `norm`, not the "
    "number of letters, and not the sum of squares itself.",
    SLIPS["another-length"],
    SLIPS["another-length (squared)"],
)

_least_alike = measured_otherwise(
    RANGES,
    "You probably looked for the words that are least alike.",
    "Dot product and cosine are large for vectors that are alike, so take the `argmax`.",
    SLIPS["least-alike"],
)

_second_best = measured_otherwise(
    RANGES,
    "You probably took the second most similar word.",
    "A word need not have the largest dot product with itself, because a longer one may have more "
    "of its letters. So don't leave out the largest number of a row, but the one on the diagonal, "
    "and take the largest of the others.",
    SLIPS["second-best"],
)

_second_of_each_row = measured_otherwise(
    RANGES,
    "You probably took the second largest number of each row, as if the largest were always that "
    "of the word itself.",
    "By the cosine it is, but by the dot product a longer word often has a larger one. Leave out "
    "the diagonal, for example by `fill_diagonal_(-1)`, and take the largest number that is left.",
    SLIPS["second-of-each-row"],
)

_only_earlier_words = measured_otherwise(
    RANGES,
    "You probably compared each word only with those before it.",
    "Nothing is hidden here: the other word may come before or after it among the 300.",
    SLIPS["only-earlier-words"],
)

_shares_compared = measured_otherwise(
    RANGES,
    "You probably divided the numbers of letters by the length of the word.",
    "For the dot product a word is described by how often it contains each letter, without any "
    "division. (The cosine hardly shows it, because it divides by lengths anyway.)",
    SLIPS["shares-compared"],
)

_distances_compared = measured_otherwise(
    RANGES,
    "For `dot`, you probably took the word at the smallest distance.",
    "The largest dot product belongs to another word than the smallest distance, because a long "
    "vector can be far away and still have a large dot product.",
    SLIPS["distances-compared"],
)

_similarities_averaged = measured_otherwise(
    RANGES,
    "You probably averaged the similarities instead of the lengths of the chosen words.",
    "A cosine is at most 1, but a word has three letters or more. `argmax` says which word is "
    "chosen, and its length is what you average.",
    SLIPS["similarities-averaged"],
)

_differences_of_lengths = measured_otherwise(
    RANGES,
    "You probably noted how much longer the chosen words are than the words that chose them.",
    "Note their mean length itself.",
    SLIPS["differences-of-lengths"],
)

_both_words_averaged = measured_otherwise(
    RANGES,
    "You probably averaged the lengths of both words of a pair.",
    "`dot` and `cosine` are mean lengths of the chosen words alone.",
    SLIPS["both-words-averaged"],
)

_averaged_by_softmax = measured_otherwise(
    RANGES,
    "You probably averaged the lengths of all words with a softmax of the scores.",
    "The task chooses one word, the one with the largest score, and takes its length.",
    SLIPS["averaged-by-softmax"],
)


@mistake(
    "You compared each word with itself, too.",
    lambda e: (
        "By the cosine a word is most like itself, so the chosen words are as long as all "
        f"words, {number(noted(e, 'cosine'))} letters on average. Leave out the diagonal."
    ),
    recognized=lambda e: (
        abs(noted(e, "cosine") - noted(e, "words")) < 0.02
        and lies(RANGES, "words", noted(e, "words"), e)
    ),
)
def _with_itself() -> Numbers:
    return middle(RANGES, cosine=float(middle(RANGES)["words"]))


_CHOICE = (
    "Each word chooses the place of the largest number in its row, without itself, and the first "
    "one if there are several. The mean runs over all 300 chosen words."
)

# What the numbers that are right say about those that are not.
_RIGHT_ONES = {
    ("words",): "So your 300 words and their lengths are right. What both of the others share is "
    f"the vectors, which hold how often a word contains each letter, and the choice. {_CHOICE}",
    ("words", "dot"): "So the words, their vectors and your way to choose by the dot product are "
    "right. What is left is the cosine: every vector is divided by its own length, the root of the "
    "sum of its squares, before all pairs are multiplied. Then choose as by the dot product.",
    ("words", "cosine"): "So the words and their vectors are right. What is left is the dot "
    "product and how you choose by it. It takes the vectors as they are. Leave out the diagonal, "
    "which need not hold the largest number of its row, and take the largest of the others, the "
    "first one if there are several.",
    ("dot", "cosine"): "So the words and the choice are right. What is left is `words`, the mean "
    "length of the 300 words, each counted once.",
    (): "The first number already differs, so you look at other words, or at other lengths, before "
    "anything is compared. The words have at least three letters, a to z alone, in lower case, and "
    "the 300 most frequent of these are taken. A length is a number of letters.",
}

_EXPERIMENT = observations.experiment(
    "Which word is most like which?", RANGES, ANGLE, {"words": 1, "dot": 2, "cosine": 1}
)
TASK = replace(
    _EXPERIMENT,
    properties=(
        *_EXPERIMENT.properties[:-1],
        told_by_the_right_ones(RANGES, _RIGHT_ONES, ANGLE),
        _EXPERIMENT.properties[-1],
    ),
)
