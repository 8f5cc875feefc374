"""Linear algebra: products, einsum, inverses, decompositions.

Imports `ops.ordering` and the rooms below it.
"""
