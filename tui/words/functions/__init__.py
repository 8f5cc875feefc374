"""The user's functions in words: what they promise, and what happens inside of them.

Imports `tui.time` and what is below it.
"""
