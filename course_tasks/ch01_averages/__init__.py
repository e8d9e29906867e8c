"""Tasks of chapter 01, *Averaging the past*: sums, means, windows, decay and masks as matrices of
weights.
"""
