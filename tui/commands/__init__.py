"""The command line: its parser, and one file a command.

Imports everything else.
"""
