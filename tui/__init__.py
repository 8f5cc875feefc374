"""The terminal stepper for recorded backward passes, the same views as plain text, and the command line.

Importing this package is cheap: Textual is loaded when a stepper opens.
"""

from tui.stepper.launch import step

__all__ = ["step"]
