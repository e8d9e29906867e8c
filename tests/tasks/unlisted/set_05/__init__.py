"""The fifth set, written when the judges had been improved after the first four.

It looks for the edges of what tasks allow. Each answer breaks a sentence of its statement, which is
quoted in the comment before it. A third, drawn by lot, was put aside.
"""
