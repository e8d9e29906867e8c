"""The third set, written when the judges had been improved after the second one. All of it was put
aside until the judges had spoken.
"""
