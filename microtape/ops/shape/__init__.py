"""The same elements in another shape, order or dtype: views, copies, joining, splitting, flips.

Imports `ops.shared` and the rooms below it.
"""
