"""The `.tape` file: writing it, reading it, and refusing a damaged one.

Imports `recording.model`, `basics` and `errors`.
"""
