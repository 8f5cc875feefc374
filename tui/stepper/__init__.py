"""The stepper's screen, its pages and the app.

Imports `tui.widgets` and what is below it.
"""
