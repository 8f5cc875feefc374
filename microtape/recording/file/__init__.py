"""The `.tape` file: reading, writing, and refusing what is damaged.

Imports `recording.model` and `errors`.
"""
