"""Many elements into one: sums, products, means, norms, variances, softmax; and cumulative sums and products.

Imports `ops.elementwise` and the rooms below it.
"""
