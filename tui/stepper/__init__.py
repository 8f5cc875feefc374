"""The stepper: its app, its screen, the parts that the screen is composed of, and the pages that open over it.

Imports `tui.widgets` and what is below it.
"""
