"""The user's own keys for the stepper, read from a file. `microtape keys` prints the current keys in its format."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.binding import Binding, BindingsMap
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, _character_to_key, key_to_character
from textual.screen import Screen
from textual.widget import Widget

from tui.shell.data_folder import data_folder

VARIABLE = "MICROTAPE_KEYS"
NAMED = {key.value for key in Keys} | {"space", *KEY_NAME_REPLACEMENTS.values()}
HOW = """\
# {path}
# Your own keys for the stepper: the action on the left, its keys on the right, "" for none. Actions that are not listed
# keep their keys. Below are all actions with their current keys."""

Keymap = Mapping[str, tuple[str, ...]]


class KeysError(Exception):
    """The file has a mistake; the message is one line for the user."""


def keys_file() -> Path:
    """The path of the file, which may not exist: `$MICROTAPE_KEYS`, or `keys.toml` in the user's data folder."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else data_folder() / "keys.toml"


def read_keys(actions: Mapping[str, tuple[str, ...]], path: Path | None = None) -> Keymap:
    """The keys that the file gives to actions; empty if there is no file.

    Args:
        actions: every action that can have keys, with its current keys.
        path: the file; None for the user's.

    Raises:
        KeysError: the file has a mistake.
    """
    path = keys_file() if path is None else path
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise KeysError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise KeysError(f"{path}: this is not TOML: {error}") from None
    found = {}
    for action, keys in given.items():
        if action not in actions:
            raise KeysError(f"{path}: there is no action {action!r}: `microtape keys` lists them")
        if not isinstance(keys, str):
            raise KeysError(f'{path}: {action}: its keys must be one string, such as "n" or "n,ctrl+n"')
        found[action] = tuple(_key(key.strip(), path, action) for key in keys.split(",") if key.strip())
    _check_unique({**{action: keys for action, keys in actions.items() if action not in found}, **found}, path)
    return found


def _key(key: str, path: Path, action: str) -> str:
    """The key as Textual calls it: `?` is `question_mark`."""
    if len(key) == 1:
        return _character_to_key(key)
    last = re.sub(r"^((ctrl|shift|alt|super|meta)\+)+", "", key)
    if last in NAMED or len(last) == 1 or key_to_character(last) is not None:
        return key
    raise KeysError(f"{path}: {action}: there is no key {key!r}; examples of keys: n, N, ?, f5, ctrl+n, shift+up")


def _check_unique(keys: Keymap, path: Path) -> None:
    owners: dict[str, str] = {}
    for action, every in keys.items():
        for key in every:
            if key in owners:
                both = f"{owners[key]} and {action}"
                raise KeysError(f"{path}: {key} is bound to both {both}: give one of them another key")
            owners[key] = action


def actions_of(screen: Screen[Any]) -> dict[str, tuple[str, ...]]:
    """Every action of a screen that has keys, and its keys."""
    found: dict[str, tuple[str, ...]] = {}
    meanings = _meanings(screen)
    for key, binding in screen._bindings:
        if binding.action in meanings:
            found[binding.action] = (*found.get(binding.action, ()), key)
    return found


def rebind(screen: Screen[Any], keymap: Keymap) -> None:
    """Bind a screen's actions to the user's keys."""
    bindings: dict[str, list[Binding]] = {}
    for _, binding in screen._bindings:
        bindings.setdefault(binding.action, []).append(binding)
    for action, keys in keymap.items():
        bindings[action] = [replace(bindings[action][0], key=key, key_display=None) for key in keys]
    screen._bindings = BindingsMap(binding for every in bindings.values() for binding in every)


def unbind_screen_keys(screen: Screen[Any], widgets: Iterable[Widget]) -> None:
    """Remove the screen's keys from widgets: `j` scrolls only if the user has not bound it to an action."""
    for widget in widgets:
        for key in screen._bindings.key_to_bindings:
            widget._bindings.key_to_bindings.pop(key, None)


def table(screen: Screen[Any]) -> Iterator[str]:
    """All actions with their keys and descriptions, in the format of the file."""
    yield HOW.format(path=keys_file())
    meanings = _meanings(screen)
    rows = [(f'"{action}"', f'"{",".join(keys)}"', meanings[action]) for action, keys in actions_of(screen).items()]
    left, middle = (max(len(row[column]) for row in rows) for column in (0, 1))
    for action, keys, meaning in rows:
        yield f"{action.ljust(left)} = {keys.ljust(middle)}  # {meaning}"


def _meanings(screen: Screen[Any]) -> dict[str, str]:
    """The descriptions of the actions; Textual's own actions have none and are left out."""
    own: list[tuple[str, Binding]] = [(binding.action, binding) for _, binding in screen._bindings]
    return {action: binding.description for action, binding in own if binding.description}
