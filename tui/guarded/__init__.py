"""The base of every app: a fault becomes a notice, and at every end the terminal is whole.

Imports `tui.shell`.
"""
