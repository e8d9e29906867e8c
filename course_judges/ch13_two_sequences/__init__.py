"""How the tasks of chapter 13 are judged: right answers, and wrong ones by name.

Answers stand there as a student writes them: without annotations, and free to ignore what they are
given.
"""
