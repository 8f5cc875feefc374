"""What surrounds a command: exit codes, progress lines, the clipboard, the editor, keys, opening a FILE, styled text.

Imports `microtape` and `viz`; no other room of `tui`.
"""
