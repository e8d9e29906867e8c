"""Students' answers to the tasks of chapter 13."""
