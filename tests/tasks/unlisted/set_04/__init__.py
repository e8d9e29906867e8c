"""The fourth set, written when the judges had been improved after the first three.

Each answer breaks a sentence of its statement, which is quoted in the comment before it. A third,
drawn by lot, was put aside.
"""
