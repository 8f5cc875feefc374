"""What operations are made with: argument parsing, dtype rules, work on large arrays in chunks.

Imports `tape` and the rooms below it.
"""
