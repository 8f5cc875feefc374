"""Elements picked and written by position: `x[...]`, gather, scatter, padding, repeats, diagonals.

Imports `ops.reduction` and the rooms below it.
"""
