"""Lines of styled text as Textual draws them: roles, wrapping, strips, and what was clicked in a line.

Imports `tui.shell` and `tui.time`.
"""
