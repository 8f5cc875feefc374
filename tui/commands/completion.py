"""`microtape completion`: print what a shell needs to complete commands, options and files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

from tui.commands.parser import make_parser
from tui.shell.printing import put

FILES = {"FILE", "SCRIPT", "A", "B", "OTHER"}  # metavars of arguments that name a file


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    parser, _, _ = make_parser()
    for action in _actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    put(shtab.complete(parser, arguments.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
