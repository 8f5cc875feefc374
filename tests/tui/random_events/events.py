"""Random events of a terminal, as plain data that can be stored and played again."""

from __future__ import annotations

import random
from typing import NamedTuple

SMALLEST, LARGEST = (10, 4), (300, 100)

_KEYS = """
right right right right left left left home end up down pageup pagedown tab shift+tab enter enter escape escape
shift+right shift+left ctrl+home ctrl+end shift+home shift+end space backspace delete ctrl+p ctrl+c f1 ctrl+z ctrl+s
ctrl+a ctrl+x ctrl+v ctrl+k ctrl+u ctrl+w ctrl+right ctrl+left super+c insert f5 alt+x
l h i u g v a V x D ! ! F b w B c C + = - P / n N f z Z y o O e r [ ] p s S t T d ? ? 1 2 3 4 5 0 9 j k H L W R E X m
. , ' " ( ) % : é 漢 q
"""
KEYS = _KEYS.split()
"""One of them is pressed at random; those that stand here twice, more often."""

PHRASES = (
    "g 3 enter", "g x enter", "g 9 9 9 enter", "b x enter", "b % 2 enter", "b g r a d . m a x ( ) > 1 enter",
    "b ( enter", "b n a n enter", "w x enter", "w 0 enter", "/ m u l enter", "/ z z z enter", "f a d d enter",
    "f z z enter", "x x enter", "ctrl+p n e x t enter", "ctrl+p z z z pagedown enter", "ctrl+p pagedown enter",
    "! enter enter", "enter enter enter", "enter down enter", "V enter", "y enter", "s down enter", "s c", "B enter",
    "B d", "a down right", "i right right u", "P right 1 enter", "] c", "[ c", "e escape", "o down enter", "1", "2",
    "3", "c",
)  # fmt: skip

TEXTS = (
    "", "x", "loss", "3", "grad.max() > 10", "[bold]", "[/]", "\\", "a\nb\nc", "\x1b[31m", "\t", "漢字 é ‮",
    "0" * 300, "(" * 50, "example.py:3", "%4", "\ud800", "\0", "/ / ..", "x = 1\n" * 40,
)  # fmt: skip


class Event(NamedTuple):
    """What a terminal reports, and its details: keys that arrive at once, a place, a text or a size."""

    kind: str
    at: tuple[int, int] = (0, 0)
    text: str = ""
    to: tuple[int, int] = (0, 0)  # where a drag ends


def random_events(seed: object, count: int) -> list[Event]:
    """`count` events; equal seeds give equal events."""
    choose = random.Random(str(seed))
    size = choose.choice([(80, 24), (140, 50), LARGEST])
    events = [Event("resize", size)]
    while len(events) < count:
        what = choose.random()
        at, to = (_place(choose, size), _place(choose, size))
        if what < 0.4:
            events.append(Event("keys", text=choose.choice(KEYS)))
        elif what < 0.45:
            events.append(Event("keys", text=" ".join([choose.choice(KEYS)] * choose.randint(2, 4))))
        elif what < 0.5:
            events.append(Event("keys", text=choose.choice(PHRASES)))
        elif what < 0.6:
            events += [Event("keys", text=key) for key in choose.choice(PHRASES).split()]
        elif what < 0.78:
            events.append(Event("click", at))
        elif what < 0.82:
            events.append(Event("move", at))
        elif what < 0.86:
            events.append(Event("drag", at, to=to))
        elif what < 0.91:
            events.append(Event(choose.choice(["scroll up", "scroll down", "scroll left", "scroll right"]), at))
        elif what < 0.93:
            events.append(Event("paste", text=choose.choice(TEXTS)))
        elif what < 0.95:
            events.append(Event(choose.choice(["focus", "blur"])))
        elif what < 0.97:
            size = _size(choose)
            events.append(Event("resize", size))
        else:
            events.append(Event("settle"))
    return events[:count]


def _place(choose: random.Random, size: tuple[int, int]) -> tuple[int, int]:
    """A place on the screen: anywhere, or in the middle, where the pages are."""
    if choose.random() < 0.5:
        return choose.randrange(size[0]), choose.randrange(size[1])
    return tuple(min(max(int(choose.gauss(one / 2, one / 6)), 0), one - 1) for one in size)  # type: ignore[return-value]


def _size(choose: random.Random) -> tuple[int, int]:
    """A size of the terminal: of any kind, or one that people have."""
    if choose.random() < 0.5:
        return choose.choice([SMALLEST, (20, 5), (80, 24), (80, 24), (100, 30), (140, 50), LARGEST])
    return choose.randint(SMALLEST[0], LARGEST[0]), choose.randint(SMALLEST[1], LARGEST[1])
