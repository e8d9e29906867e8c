"""What is right, and which mistakes have names; never beside student code in a graded run.

`judging` compares answers with a right one and with named wrong ones, and says which modules find
the words for them. `chNN_name/` has one module for each task of a chapter. Chapters share
`families` of mistakes that many tasks know, `properties`, `wording`, `chance` for draws and
`writing` for texts. `course_tasks.check` hands answers over to `judge_at_desk` where this package
is installed.
"""
