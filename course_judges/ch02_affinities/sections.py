"""The sections of chapter 02 and its asides to which its tasks send a student back."""

from course_tasks.verdict import Section

_CHAPTER = "02-affinities"
_ASIDES = "asides-averages"
ANGLE = Section(_CHAPTER, "Dot product and angle")
PAIRS = Section(_CHAPTER, "All pairs at once")
LETTERS = Section(_ASIDES, "Letters by the company they keep")
DEPENDS = Section(_CHAPTER, "Weights that depend on the data")
GROWTH = Section(_CHAPTER, "Dot products grow with D")
ROOT = Section(_CHAPTER, "Why the root of D")
ENTROPY = Section(_ASIDES, "Temperature and entropy")
STABLE = Section(_ASIDES, "A softmax that survives large scores")
KERNEL = Section(_ASIDES, "Distances as scores")
ROLES = Section(_CHAPTER, "Three roles, one vector")
