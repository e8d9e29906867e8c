"""What is right, and which mistakes have names; never beside student code in a graded run.

`judging` compares answers with a right one and with named wrong ones; `chNN_name/` holds both for a
chapter's tasks. `course_tasks.check` hands answers over to `judge_at_desk` where this package is
installed.
"""
