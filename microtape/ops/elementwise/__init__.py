"""Each element by itself: arithmetic, exponentials, comparisons, activations, masks, random numbers.

Imports `ops.shape` and the rooms below it, and `microtape.random`.
"""
