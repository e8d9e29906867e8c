"""What is true of an array that is not the right one, whatever the task: what kind of thing came
instead, how its shape and its numbers come from the right ones or from what was given, and at which
places it is wrong. `describing` asks these in turn when no mistake of a task explains an answer.
"""
