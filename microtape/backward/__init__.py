"""The backward engine: evaluates the nodes of the tape one at a time, runs hooks, and accumulates into `.grad`.

Imports `tape` and what is below it.
"""
