"""Texts about a moment: sentences, explanations, the trace, JSON. No Textual.

Imports `tui.time` and what is below it.
"""
