"""How the tasks of chapter 03 are judged: right answers, and the wrong ones that people give.

The answers are written as a student writes them, without annotations and sometimes with arguments
that they ignore.
"""
