"""How the tasks of chapter 09 are judged: right answers, and wrong ones by name.

The answers are written as students write them: without annotations, and free to ignore arguments.
"""
