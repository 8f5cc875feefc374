"""Other values of one type: what a hostile or a damaged file may have where a number, a text or an array should be."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import numpy as np

from microtape.recording.model.summary import summarize

NUMBERS = (0, 1, -1, 2, 3, 7, 60, 2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 10**30, 10**4000)
REALS = (0.0, -0.0, 1.0, -1.0, 1e-320, 1e308, -1e308, 0.1, 2.0**53)
TEXTS = (
    "", " ", "x", "x" * 5_000, "\x1b]52;c;AAAA\x07", "\ud800", "\x00", "\u202eevil", "[red]x[/]", "%s %d", "{0}",
    "a\nb\tc", "<b>&amp;", '"\\N', "../../etc/passwd", "C:\\x", "self.a[0].b", "不", "e\u0301" * 9, "()", "=", "#", ",",
    "float32", "mul", "add", "w", "<module>", "backward", "nan", "1e999", "-", "/", "'", "ctx.x", "args[0]", "...",
    "\u2028",
)  # fmt: skip
_OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    0.5,
    "",
    "x",
    [],
    {},
    [0],
    [[]],
    {"at": []},
    {"count": [], "of": []},
)
SHAPES = ((), (0,), (1,), (3,), (2, 2), (0, 3), (1, 1, 1), (2, 3, 1, 1), (300,), (1,) * 32)
DTYPES = ("bool", "uint8", "int8", "int64", "float16", "float32", "float64", "complex64", "complex128")
_SIGNALLING = {"float16": np.uint16(0x7D00), "float32": np.uint32(0x7F800001), "float64": np.uint64(0x7FF << 52 | 1)}


def other(random: Random) -> Any:
    """A value of any type; a new one each time, since the next change may be in it."""
    return copy.deepcopy(random.choice(_OTHERS))


def number(random: Random, now: int) -> int:
    """Another number: near this one or far away."""
    return random.choice((now + 1, now - 1, -now, random.randrange(10), random.choice(NUMBERS)))


def text(random: Random, now: str) -> str:
    """Another text, or a part of this one."""
    if now and random.random() < 0.3:
        at = random.randrange(len(now))
        return random.choice((now[:at], now[at:], now[:at] + random.choice(TEXTS) + now[at:], now.upper()))
    return random.choice(TEXTS)


def array(random: Random) -> Any:
    """An array of any dtype and shape, often with numbers that are none, or its summary."""
    shape, dtype = random.choice(SHAPES), np.dtype(random.choice(DTYPES))
    kind = random.randrange(5)
    made = np.full(shape, random.choice((0, 1, 1, 3)), dtype)
    if kind == 1 and dtype.kind in "fc":
        made = np.full(shape, random.choice((np.nan, np.inf, -np.inf)), dtype)
    elif kind == 2:
        made = np.arange(made.size).reshape(shape).astype(dtype)
    elif kind == 3 and dtype.kind in "fc":
        made = np.full(shape, np.finfo(dtype).max, dtype)
    elif kind == 4 and dtype.name in _SIGNALLING:  # computing with it makes numpy warn
        made = np.full(shape, _SIGNALLING[dtype.name]).view(dtype)
    made.flags.writeable = False
    return summarize(made) if random.random() < 0.2 else made
