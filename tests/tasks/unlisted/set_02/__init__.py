"""The second set, written when the judges had been tuned on the first one. Every third answer of a
chapter was put aside.
"""
