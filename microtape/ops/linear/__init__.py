"""Linear algebra: products, einsum, inverses, decompositions.

Imports `ops.ordering` and what is below it.
"""
