"""What several tasks of chapter 05 say in the same words."""

LENGTH_UNDER_THE_ROOT = (
    "You divided the scores by the root of a number of positions, but a score is a sum of D "
    "products."
)

NO_SOFTMAX = "You used the scores themselves as weights, without a softmax."
NO_AVERAGE = (
    "Scores can be negative and sum to anything, so only a softmax makes an average of them."
)

LOW_FILL = "You give what you hide a low score, but it isn't lower than every score."
MINUS_INFINITY = "−inf is below every score, and e to the power of −inf is exactly 0."
SUMS_OF_LOW_SCORES = "When the scores are low, your rows don't sum to 1."
LIMITED_DIVISOR = (
    "You probably add something to what you divide by, or keep it above a limit: e to the power of "
    "−50 is about 2e−22, so even 1e−9 is large beside it. A softmax avoids this by subtracting the "
    "largest score of each row first."
)

ITSELF_HIDDEN = "In your weights, positions don't see themselves."
START_DOES_NOT_FIT = "`start`, or a mask made from it, has a shape that doesn't fit."

OUTPUTS_SHOW = "this is what your output shows."
