"""Keys of one's own: a file that says which keys do what in the stepper. `microtape keys` prints what there is."""

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

from tui.shell.remembered import folder

VARIABLE = "MICROTAPE_KEYS"
NAMED = {key.value for key in Keys} | {"space", *KEY_NAME_REPLACEMENTS.values()}
HOW = """\
# {path}
# Your own keys for the stepper: the action on the left, its keys on the right, "" for none. What is not named keeps
# its keys. These are all of them, as they are now."""

Keymap = Mapping[str, tuple[str, ...]]


class KeysError(Exception):
    """The file has a mistake in it; the message is one line for the user."""


def keys_file() -> Path:
    """The file, which need not be there: `$MICROTAPE_KEYS`, or `keys.toml` among the user's data."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else folder() / "keys.toml"


def read_keys(actions: Mapping[str, tuple[str, ...]], path: Path | None = None) -> Keymap:
    """The keys that the file gives to actions; none where there is no file.

    Args:
        actions: every action that can have keys, and those that it has.
        path: the file; None: the user's.

    Raises:
        KeysError: it has a mistake in it.
    """
    path = keys_file() if path is None else path
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise KeysError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise KeysError(f"{path}: not TOML: {error}") from None
    found = {}
    for action, keys in given.items():
        if action not in actions:
            raise KeysError(f"{path}: there is no action {action!r}: `microtape keys` lists them")
        if not isinstance(keys, str):
            raise KeysError(f'{path}: {action}: its keys are one text, such as "n" or "n,ctrl+n"')
        found[action] = tuple(_key(key.strip(), path, action) for key in keys.split(",") if key.strip())
    _check_unique({**{one: keys for one, keys in actions.items() if one not in found}, **found}, path)
    return found


def _key(key: str, path: Path, action: str) -> str:
    """The key as Textual calls it: `?` is `question_mark`."""
    if len(key) == 1:
        return _character_to_key(key)
    last = re.sub(r"^((ctrl|shift|alt|super|meta)\+)+", "", key)
    if last in NAMED or len(last) == 1 or key_to_character(last) is not None:
        return key
    raise KeysError(f"{path}: {action}: there is no key {key!r}; keys are n, N, ?, f5, ctrl+n, shift+up, comma")


def _check_unique(keys: Keymap, path: Path) -> None:
    owners: dict[str, str] = {}
    for action, every in keys.items():
        for key in every:
            if key in owners:
                raise KeysError(f"{path}: {key} is the key of {owners[key]} and of {action}: give one of them another")
            owners[key] = action


def actions_of(screen: Screen[Any]) -> dict[str, tuple[str, ...]]:
    """Every action of a screen that a key does, and its keys."""
    found: dict[str, tuple[str, ...]] = {}
    for key, binding in screen._bindings:
        if binding.action:
            found[binding.action] = (*found.get(binding.action, ()), key)
    return {action: keys for action, keys in found.items() if action in _meanings(screen)}


def rebind(screen: Screen[Any], keymap: Keymap) -> None:
    """Give a screen's actions other keys."""
    bindings: dict[str, list[Binding]] = {}
    for _, binding in screen._bindings:
        bindings.setdefault(binding.action, []).append(binding)
    for action, keys in keymap.items():
        bindings[action] = [replace(bindings[action][0], key=key, key_display=None) for key in keys]
    screen._bindings = BindingsMap(binding for every in bindings.values() for binding in every)


def give_way(screen: Screen[Any], widgets: Iterable[Widget]) -> None:
    """Take from widgets what are now the screen's keys: `j` scrolls only while it is not the user's key for a step."""
    for widget in widgets:
        for key in screen._bindings.key_to_bindings:
            widget._bindings.key_to_bindings.pop(key, None)


def table(screen: Screen[Any]) -> Iterator[str]:
    """All actions with their keys and what they do, in the form of the file."""
    yield HOW.format(path=keys_file())
    meanings = _meanings(screen)
    rows = [(f'"{action}"', f'"{",".join(keys)}"', meanings[action]) for action, keys in actions_of(screen).items()]
    left, middle = (max(len(row[column]) for row in rows) for column in (0, 1))
    for action, keys, meaning in rows:
        yield f"{action.ljust(left)} = {keys.ljust(middle)}  # {meaning}"


def _meanings(screen: Screen[Any]) -> dict[str, str]:
    """What the actions do; those without a word are Textual's own."""
    own: list[tuple[str, Binding]] = [(binding.action, binding) for _, binding in screen._bindings]
    return {action: binding.description for action, binding in own if binding.description}
