"""Records a script in a child process, up to the pass that is asked for.

Imports the other rooms of `recording`.
"""
