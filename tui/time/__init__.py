"""Where in a recording one stands, and what there is at that moment: cursor, lanes, rows, search. No Textual.

Imports `microtape.recording` and `viz`.
"""
