"""The commands of the palette: every action of the screen's keys, found by its description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from textual.app import SystemCommand
from textual.screen import Screen

from tui.shell.key_names import key_name

LEFT_OUT = ("app.command_palette", "command_palette", "help_quit")


def commands_of(screen: Screen[object], *, ascii: bool = False) -> Iterator[SystemCommand]:
    """A command for each action of the screen, with its keys."""
    found: dict[str, tuple[str, list[str]]] = {}
    for key, active in screen.active_bindings.items():
        binding = active.binding
        if active.node is screen and binding.description and binding.action not in LEFT_OUT:
            found.setdefault(binding.action, (binding.description, []))[1].append(key_name(key, ascii=ascii))
    for action, (words, keys) in found.items():
        yield SystemCommand(
            words[0].upper() + words[1:], f"key {' or '.join(keys)}", partial(screen.run_action, action)
        )


def without(commands: Iterable[SystemCommand], *titles: str) -> Iterator[SystemCommand]:
    """The commands, except those with these titles."""
    return (one for one in commands if one.title not in titles)
