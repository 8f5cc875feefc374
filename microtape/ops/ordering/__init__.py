"""What depends on the order of numbers: max, sort, top-k, cumulative maxima, counts.

Imports `ops.indexing` and the rooms below it.
"""
