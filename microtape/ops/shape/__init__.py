"""The same elements in another shape, layout or dtype: views, copies, joining and splitting.

Imports `ops.shared` and what is below it.
"""
