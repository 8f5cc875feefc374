"""The backward engine: it evaluates the nodes of the tape, one at a time, and runs the hooks.

Imports `tape` and what is below it.
"""
