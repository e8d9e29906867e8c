"""How the tasks of chapter 13 are judged: right answers, and wrong ones by name.

Answers are written as a student writes them: without annotations, and they may ignore some of their
arguments.
"""
