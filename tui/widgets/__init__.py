"""The parts of the screen: tape, boxes, panes, bars, dialogs.

Imports `tui.words`, `tui.time` and `tui.shell`.
"""
