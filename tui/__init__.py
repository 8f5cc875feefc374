"""The terminal stepper of recorded backward passes, its plain-text twin and the command line.

Importing this package is cheap: Textual is loaded when a stepper opens.
"""

from tui.stepper.launch import step

__all__ = ["step"]
