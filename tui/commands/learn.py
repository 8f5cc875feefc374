"""`microtape learn`: open the course, or run one of its commands."""

from __future__ import annotations

import argparse

from tui.learn.cli import learn
from tui.shell.exits import is_ascii
from tui.shell.terminal import default_theme


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    return learn(arguments, theme=arguments.theme or default_theme(), ascii=is_ascii(arguments))
