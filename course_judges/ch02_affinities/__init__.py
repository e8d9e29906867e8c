"""How the tasks of chapter 02 are judged: affinities, softmax, and how evenly a row looks.

Reference answers and mistakes are written as a student would write them.
"""
