"""What surrounds a command: exit codes, progress, the clipboard, the editor, keys, opening a file.

Imports `microtape`, `viz` and `lessons`.
"""
