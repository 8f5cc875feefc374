"""Each element by itself: arithmetic, exponentials, comparisons, activations, masks, random numbers.

Imports `ops.shape` and what is below it, and `microtape.random`.
"""
