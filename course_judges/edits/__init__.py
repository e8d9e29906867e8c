"""Small changes to an answer: one library for judges, mutants and questions about a program.

`operators` change one place of a syntax tree. `steps` reads an answer line by line, with the name
that each line's comment gives it, and makes its variants; `sentences` says what was changed.
`table` keeps the variants of a task beside its judge, as `<task>.json`, and `matching` finds the
one that a wrong answer equals. Only `table` needs the operators, when it is built:

    python -m course_judges.edits.making 05/scores
"""
