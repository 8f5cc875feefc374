"""`python -m microtape` is the `microtape` command, which lives in the top layer."""

import sys

from tui.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
