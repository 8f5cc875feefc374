"""The parts of the stepper's screen: each has its own state, and declares its keys beside the code that they run.

`part.py` says what a part is. Imports `tui.widgets` and the pages of `tui.stepper`.
"""
