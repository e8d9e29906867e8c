"""Tasks of chapter 02, *Affinities*: angles, a softmax for any scores, the spread of dot products,
the width of a row, a kernel smoother, and faults in weights that depend on the data.
"""
