"""The user's own operations: `Function`, its call and its node.

Imports `tape` and what is below it.
"""
