"""Custom operations: the class `Function`, its call, and its node with the `ctx`.

Imports `tape` and what is below it.
"""
