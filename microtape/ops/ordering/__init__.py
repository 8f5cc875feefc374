"""What depends on order: max, sort, top-k, cumulative sums, counts.

Imports `ops.indexing` and what is below it.
"""
