"""The parts of the stepper's screen: each has its own state, and declares its keys beside the methods that they run.

`part.py` defines a part, and `key_declarations.py` how it declares its keys.
Imports `tui.widgets` and the pages of `tui.stepper`.
"""
