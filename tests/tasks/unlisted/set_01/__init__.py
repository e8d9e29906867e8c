"""The first set, which showed what to look for; the judges have been tuned on all of it."""
