"""The course in the terminal, in full screen and as plain commands.

Imports `tui.stepper` and what is below it, and `lessons`.
"""
