"""Which nodes become boxes: folds, repeats, neighbourhoods, names.

Imports `viz.basics` and `microtape.recording`.
"""
