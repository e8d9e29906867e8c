"""The thirteenth set: slips of students in all chapters, three a task.

It was written when the judges had been improved after the twelfth one. One of the three, chosen at
random, was put aside until the judges had been improved on the two others.
"""

# Their numbers lie where those of right runs do.
STILL_ACCEPTED = {"takes_out_attention_only", "without_punctuation_and_capitals"}
