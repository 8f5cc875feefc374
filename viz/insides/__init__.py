"""Pictures of what ran inside of the user's functions: the forward and backward of a Function, hooks, recomputations.

Imports the folders `scene`, `planning` and `basics`.
"""
