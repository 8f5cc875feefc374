"""What keys are called, and texts that name the keys of actions: a user's own keys are named where he has some."""

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
    """A key as people write it: `→`, `?`, `^p`, `⇧Tab`, `F1`; in ASCII `->` and `Shift+Tab`."""
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    signs = ASCII_MODIFIERS if ascii else MODIFIERS
    known = {**NAMES, **ASCII_NAMES} if ascii else NAMES
    name = known.get(last) or (last.upper() if re.fullmatch(r"f\d+", last) else format_key(last))
    return "".join(signs.get(one, f"{one}+") for one in modifiers) + name


@dataclass(frozen=True)
class KeyNames:
    """The names of the keys that actions have."""

    keys: Mapping[str, Sequence[str]]
    ascii: bool = False

    def of(self, action: str) -> list[str]:
        """All of them; none for an action that was left without."""
        return [key_name(key, ascii=self.ascii) for key in self.keys.get(action, ())]

    def first(self, action: str) -> str:
        """The one to press; where there is none, the command palette has the action."""
        return next(iter(self.of(action)), "^p")

    def spell(self, text: str) -> str:
        """The text with the key of an action for `{action}`."""
        return re.sub(r"\{(.+?)\}", lambda match: self.first(match[1]), text)
