"""Which nodes become boxes, and which boxes are connected: neighbourhoods, folds (loops, functions, scopes), ranks.

Imports `viz.basics` and `microtape.recording`.
"""
