"""How the tasks of chapter 03 are judged: right answers, and the wrong ones that people give.

Answers stand there as a student writes them: without annotations, and free to ignore what they are
given.
"""
