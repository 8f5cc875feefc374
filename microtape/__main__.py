"""`python -m microtape` is the `microtape` command."""

import sys
from importlib import import_module

if __name__ == "__main__":
    # The command lives in the top layer, which nothing imports; the script's folder must not stand in for it.
    sys.exit(import_module("tui.commands.cli").main())
