"""What happens in a run, as plain data that can be stored and played again."""

from __future__ import annotations

import random
from typing import NamedTuple

from tests.tui.random_events.subjects import subjects

SIZES = ((10, 4), (20, 5), (80, 24), (80, 24), (100, 30), (140, 50), (300, 100))
KEYS = {
    "right": "\x1b[C", "left": "\x1b[D", "up": "\x1b[A", "down": "\x1b[B", "home": "\x1b[H", "end": "\x1b[F",
    "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "enter": "\r", "escape": "\x1b", "tab": "\t", "backtab": "\x1b[Z",
    "backspace": "\x7f", "ctrl+p": "\x10", "ctrl+c": "\x03", "shift+right": "\x1b[1;2C", "f1": "\x1bOP",
    "click": "\x1b[<0;12;6M\x1b[<0;12;6m", "scroll": "\x1b[<65;12;6M", "blur": "\x1b[O", "focus": "\x1b[I",
    "paste": "\x1b[200~pasted\x1b[201~", "half-a-character": "\udcc3", "é": "é",
    **{one: one for one in "lhiugvaVxD!FbwBcC+=-PnNfzZyoOer[]psStTd?1234509jkHLWREXm.,' /%"},
}  # fmt: skip
PHRASES = ("n enter ?", "g 3 enter", "g x enter enter", "ctrl+p n e enter", "end enter ?", "V enter y", "s down ?", "e")
ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT")


class Event(NamedTuple):
    """One thing that happens.

    `keys`, `size`, `pause` and `typed` are told by the text; `SIGWINCH` and `SIGCONT` come out of nowhere. `Ctrl+Z`,
    `SIGTSTP` and `SIGSTOP` suspend, and `fg` follows, after what the text says: `bg`, or a size.
    """

    kind: str
    text: str = ""


class Plan(NamedTuple):
    """A run: what is opened, what happens, and what ends it: a signal to `process`, `group` or `job`, or `closed`."""

    subject: str
    events: list[Event]
    ending: str
    early: bool  # whether the events begin before the first frame
    returns: bool  # whether the place is looked at afterwards


def random_plan(seed: int, count: int) -> Plan:
    """The plan of a seed: half of the runs open a recording, the others a lesson, or a program that goes on."""
    choose = random.Random(seed)
    known = [one for one in subjects() if one.split()[0] in ("example", "handmade", "damaged", "lesson", "lessons")]
    recordings = [one for one in known if not one.startswith("lesson")]
    lessons = [one for one in known if one.startswith("lesson ")]
    kind = choose.random()
    if kind < 0.5:
        subject = choose.choice(recordings)
    elif kind < 0.65:
        subject = choose.choice(["program endless", "program example", "program mlp"])
    elif kind < 0.8:
        subject = f"typed {choose.choice(lessons).partition(' ')[2]}"
    else:
        subject = choose.choice([*lessons, "lessons"])
    events = [_event(choose, subject.startswith("typed ")) for _ in range(count)]
    how = choose.choice(["process", "process", "process", "group", "job", "closed"])
    ending = "closed" if how == "closed" else f"{choose.choice(ENDING)} {how}"
    return Plan(subject, events, ending, choose.random() < 0.2 and kind < 0.65, choose.random() < 0.3)


def _event(choose: random.Random, types: bool) -> Event:
    what = choose.random()
    if what < 0.5:
        if types:
            return Event("typed")
        keys = choose.choice(PHRASES) if choose.random() < 0.3 else choose.choice(list(KEYS))
        return Event("keys", keys)
    if what < 0.6:
        return Event("pause", f"{choose.choice([0, 0.01, 0.05, 0.3]):g}")
    if what < 0.68:
        return Event("size", _size(choose))
    if what < 0.76:
        return Event(choose.choice(["SIGWINCH", "SIGCONT"]))
    between = choose.choice(["", "", "", "bg", _size(choose)])
    key = "SIGTSTP" if types else "Ctrl+Z"  # which the editor has another use for: it undoes
    return Event(choose.choice([key, key, "SIGTSTP", "SIGSTOP"]), between)


def _size(choose: random.Random) -> str:
    return "{}x{}".format(*choose.choice(SIZES))
