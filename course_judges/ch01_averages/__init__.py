"""How the tasks of chapter 01 are judged: weights that sum to 1, on the past, along the right axis.

Reference answers and mistakes are written as a student would write them.
"""
