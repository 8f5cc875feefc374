"""Elements picked and placed by position: `x[...]`, gather, scatter, padding, flips and repeats.

Imports `ops.reduction` and what is below it.
"""
