"""*Defend it*: questions about each student's own code, for a class and for oneself.

`defense` works in the process that reads submissions, `asking` takes submissions through the
sandbox, and the other modules write what came of it: sheets, question banks, and scores.
"""
