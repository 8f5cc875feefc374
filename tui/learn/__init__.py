"""The course in the terminal, in full screen and as plain commands.

Imports `lessons`, `tui.stepper` and what is below it.
"""
