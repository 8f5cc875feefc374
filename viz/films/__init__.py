"""A whole pass as one page with a scrubber, or as a GIF.

Imports `viz.scene`, `viz.output` and what is below them.
"""
