"""Texts about a moment: sentences, explanations, the texts of the panes, the trace, JSON. No Textual.

Imports `tui.time` and what is below it.
"""
