"""The widgets of the screen: tape, boxes, panes, bars, prompt, and the base of the pages over it.

Imports `tui.guarded`, `tui.words`, `tui.time` and `tui.shell`.
"""
