"""What every picture needs: the data of a graph, themes, options, safe text, heat maps, errors.

Imports only `microtape.recording`.
"""
