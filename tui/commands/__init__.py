"""The command line: `cli` defines commands and options, and each command has a file with a function `run`.

Imports every other room.
"""
