"""The names of keys, and texts that name the key of an action, which the user may have changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.keys import format_key

NAMES = {
    "right": "→", "left": "←", "up": "↑", "down": "↓", "enter": "Enter", "escape": "Esc", "space": "space",
    "tab": "Tab", "home": "Home", "end": "End", "pageup": "PgUp", "pagedown": "PgDn", "backspace": "Backspace",
    "delete": "Del", "insert": "Ins",
}  # fmt: skip
ASCII_NAMES = {"right": "->", "left": "<-", "up": "Up", "down": "Down"}
MODIFIERS = {"ctrl": "^", "shift": "⇧"}
ASCII_MODIFIERS = {"ctrl": "^", "shift": "Shift+"}


def key_name(key: str, *, ascii: bool = False) -> str:
    """A key as it is usually written: `→`, `?`, `^p`, `⇧Tab`, `F1`; in ASCII `->` and `Shift+Tab`."""
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    signs = ASCII_MODIFIERS if ascii else MODIFIERS
    known = {**NAMES, **ASCII_NAMES} if ascii else NAMES
    name = known.get(last) or (last.upper() if re.fullmatch(r"f\d+", last) else format_key(last))
    return "".join(signs.get(modifier, f"{modifier}+") for modifier in modifiers) + name


@dataclass(frozen=True)
class KeyNames:
    """The names of the keys of actions."""

    keys: Mapping[str, Sequence[str]]
    ascii: bool = False

    def of(self, action: str) -> list[str]:
        """All keys of an action; none if the user removed them."""
        return [key_name(key, ascii=self.ascii) for key in self.keys.get(action, ())]

    def first(self, action: str) -> str:
        """The key to press; for an action without a key, the key of the command palette."""
        return next(iter(self.of(action)), "^p")

    def spell(self, text: str) -> str:
        """The text, with each `{action}` replaced by the key of that action."""
        return re.sub(r"\{(.+?)\}", lambda match: self.first(match[1]), text)
