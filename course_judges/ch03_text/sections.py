"""Where in chapter 03 a finding sends its reader."""

from course_tasks.verdict import Section

_CHAPTER = "03-text"
ENCODE = Section(_CHAPTER, "Encode and decode")
UNKNOWN = Section(_CHAPTER, "A symbol that nobody knows")
TARGET = Section(_CHAPTER, "Context and target")
EXAMPLES = Section(_CHAPTER, "One row is many examples")
RANDOM = Section(_CHAPTER, "Random windows, one gather")
CONTINUE = Section(_CHAPTER, "Every target once")
ONCE = Section(_CHAPTER, "Every target once")
SPLITS = Section(_CHAPTER, "What must not be in both splits")
