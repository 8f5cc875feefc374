"""A whole backward pass as an HTML page with playback controls, or as a GIF.

Imports `viz.insides`, `viz.scene`, `viz.output`, `viz.planning`, `viz.basics` and `viz.as_recording`.
"""
