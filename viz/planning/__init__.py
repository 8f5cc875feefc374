"""Which nodes become boxes, and which boxes are connected: neighbourhoods, folds, uses, ranks, names.

Imports `viz.basics` and `microtape.recording`.
"""
