"""*Defend it*: questions about a student's own code, whose keys are right because they were run.

`program` finds the code that answers a task among a student's cells, and `changes` changes it in
one place. `small_inputs` makes of a task's inputs some that fit on paper. `asking` says what is to
be run (`course_tasks.variant_runs` runs it, beside student code), and `kinds` makes questions of
what that found; `choosing` takes a few of them for one person. Only `at_desk` runs student code,
in the process in which it has run already.
"""
