"""The small library behind the chapters, the exercises and the grading of the course.

Importing this package alone imports neither torch nor matplotlib; its parts do, when they are
asked for.
"""

__version__ = "0.1.0"
