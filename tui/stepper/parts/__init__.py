"""The parts of the stepper's screen: each has its own state, and declares its keys beside the code that they run.

`part.py` says what a part is, and `key_declarations.py` how it declares its keys.
Imports `tui.widgets` and the pages of `tui.stepper`.
"""
