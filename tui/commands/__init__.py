"""The command line: `cli` has its grammar, and each command has a file with a function `run`.

Imports every other room.
"""
