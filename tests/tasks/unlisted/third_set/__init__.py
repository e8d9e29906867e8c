"""The third set of unlisted answers, written from the tasks' statements alone, all held aside.

It came after the judges had been tuned on the first two sets, and says how they speak of what
they had not met.
"""
