"""What every picture is made with: the data of a graph, themes, options, text widths, errors.

Imports `microtape.recording` alone.
"""
