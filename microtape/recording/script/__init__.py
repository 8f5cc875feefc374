"""Records a script in a child process, up to the pass that was asked for.

Imports the other rooms of `recording`, and `tape.watch`, to stop watching.
"""
