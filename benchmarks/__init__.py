"""Measurements of the course's own claims about time; run one with `python -m benchmarks.NAME`.

Nothing here is a test: a time says something about a machine, a test must hold on all of them.
"""
