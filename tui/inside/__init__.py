"""Inside the user's functions: their source, their variables, and the steps that ran in there.

Imports `tui.widgets` and what is below it.
"""
