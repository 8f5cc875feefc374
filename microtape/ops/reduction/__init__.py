"""Many elements into one: sums, means, norms, variances, softmax.

Imports `ops.elementwise` and what is below it.
"""
