"""Used by commands and screens: exit codes, progress lines, clipboard, editor, user keys, opening a FILE, styled text.

Imports `microtape` and `viz`; no other room of `tui`.
"""
