"""The sections of chapter 01 to which its tasks send a student back."""

from course_tasks.verdict import Section

_CHAPTER = "01-averages"
SIDES = Section(_CHAPTER, "Rows or columns")
TRIANGLE = Section(_CHAPTER, "The same sums, as one multiplication")
MEANS = Section(_CHAPTER, "From sums to means")
FUTURE = Section(_CHAPTER, "Nothing from the future")
SOFTMAX = Section(_CHAPTER, "The same matrix as a softmax")
FILL = Section(_CHAPTER, "Why −inf and not 0")
WRITES = Section(_CHAPTER, "Where masked_fill writes")
KERNEL = Section(_CHAPTER, "An average is attention with fixed weights")
LETTERS = Section(_CHAPTER, "Weights that depend on the letters")
