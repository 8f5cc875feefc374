"""Reading the model's records from JSON rows, and trusting nothing.

A record is stored as the list of its fields. How each is read follows from the annotations in `model.py`, so the two
cannot drift apart: a `reader` is built once from the types, and then checks and converts thirty thousand rows in a
fraction of a second.
"""

from __future__ import annotations

import math
import sys
import typing
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias

Reader: TypeAlias = Callable[[Any], Any]


class Damaged(Exception):  # noqa: N818 - never seen by a user: file.py turns it into a RecordingError
    """What was read is not what a recording can contain."""


class _Value:
    """Stands for `model.Value`, a union that exists only for the type checker, while annotations are evaluated."""


def fields(record: type) -> dict[str, Any]:
    """A record's field names and their types. Takes named tuples and dataclasses of `model.py`."""
    return typing.get_type_hints(record, vars(sys.modules[record.__module__]), {"Value": _Value})


def reader(kind: Any, value: Reader) -> Reader:
    """A function from parsed JSON to `kind`, which raises `Damaged` for anything else.

    Args:
        kind: a type as in the model: int, str, bool, float, Literal, union with None, tuple, Mapping, named tuple.
        value: reads what stands for an array or a summary.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is _Value:
        return value
    if kind is float:
        return _float
    if origin is Literal:
        return _one_of(arguments)
    if origin is UnionType or origin is typing.Union:
        return _optional(kind, [argument for argument in arguments if argument is not NoneType], value)
    if origin is tuple and arguments[-1] is Ellipsis:
        return _many(arguments[0], value)
    if origin is tuple:
        return _row(tuple, "a tuple", dict(enumerate(arguments)), value)
    if origin is Mapping:
        return _mapping(arguments[0], reader(arguments[1], value))
    if issubclass(kind, tuple):
        return _row(kind, kind.__name__, fields(kind), value)
    return _plain(frozenset({kind}))


def _plain_types(kind: Any) -> frozenset[type] | None:
    """The types of a field that JSON gives just as it is stored, None where it must be converted."""
    kinds = typing.get_args(kind) if typing.get_origin(kind) in (UnionType, typing.Union) else (kind,)
    return frozenset(kinds) if all(one in (int, str, bool, NoneType) for one in kinds) else None


def _plain(allowed: frozenset[type]) -> Reader:
    def read(item: Any) -> Any:
        if type(item) not in allowed:
            raise Damaged(f"{_shown(item)} where there should be {_names(allowed)}")
        return item

    return read


def _float(item: Any) -> float:
    if type(item) is not float and type(item) is not int:
        raise Damaged(f"{_shown(item)} where there should be a number")
    try:
        number = float(item)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Damaged("a number too large")
    return number


def _one_of(allowed: tuple[Any, ...]) -> Reader:
    def read(item: Any) -> Any:
        if type(item) is not str or item not in allowed:
            raise Damaged(f"{_shown(item)} is none of {', '.join(allowed)}")
        return item

    return read


def _optional(kind: Any, kinds: list[Any], value: Reader) -> Reader:
    plain = _plain_types(kind)
    if plain is not None:
        return _plain(plain)
    (only,) = kinds
    read_present = reader(only, value)
    return lambda item: None if item is None else read_present(item)


def _many(kind: Any, value: Reader) -> Reader:
    plain = _plain_types(kind)
    if plain is not None:
        return _many_plain(plain)
    read_one = reader(kind, value)

    def read(item: Any) -> tuple[Any, ...]:
        if type(item) is not list:
            raise Damaged(f"{_shown(item)} where there should be a list")
        for at, one in enumerate(item):  # in place, so that what was parsed is not there twice
            item[at] = read_one(one)
        return tuple(item)

    return read


def _many_plain(allowed: frozenset[type]) -> Reader:
    def read(item: Any) -> tuple[Any, ...]:
        if type(item) is not list:
            raise Damaged(f"{_shown(item)} where there should be a list")
        if not allowed.issuperset(map(type, item)):
            wrong = next(one for one in item if type(one) not in allowed)
            raise Damaged(f"{_shown(wrong)} where there should be {_names(allowed)}")
        return tuple(item)

    return read


def _row(kind: Any, name: str, kinds: Mapping[Any, Any], value: Reader) -> Reader:
    """A reader for the fields of `kind`, written out for them and compiled: half a million rows are read by it.

    For `TensorRef` it reads:

        def read(row):
            if type(row) is not list or len(row) != 2: wrong_length(row)
            f0, f1 = row
            if type(f0) not in types0: wrong_type(f0, 0)
            if type(f1) not in types1: wrong_type(f1, 1)
            made = new(kind, (f0, f1,))
            return known.setdefault(made, made)
    """
    names = list(kinds)

    def wrong_length(row: Any) -> None:
        raise Damaged(f"{_shown(row)} where there should be the {len(names)} fields of {name}")

    def wrong_type(item: Any, at: int) -> None:
        raise Damaged(f"{_shown(item)} as the {names[at]} of {name}")

    known: dict[Any, Any] = {}
    scope: dict[str, Any] = {"kind": kind, "new": tuple.__new__, "known": known}
    scope |= {"wrong_length": wrong_length, "wrong_type": wrong_type}
    checks, made = [], []
    for at, field in enumerate(kinds.values()):
        types = _plain_types(field)
        if types is not None:
            scope[f"types{at}"] = types
            checks.append(f" if type(f{at}) not in types{at}: wrong_type(f{at}, {at})")
            made.append(f"f{at}")
        elif typing.get_origin(field) in (UnionType, typing.Union):
            (present,) = [one for one in typing.get_args(field) if one is not NoneType]
            scope[f"read{at}"] = reader(present, value)
            made.append(f"None if f{at} is None else read{at}(f{at})")
        else:
            scope[f"read{at}"] = reader(field, value)
            made.append(f"read{at}(f{at})")
    all_plain = len(checks) == len(kinds)
    # Small records such as a TensorRef recur by the thousand; one object each halves what the collector must visit.
    source = [
        "def read(row):",
        f" if type(row) is not list or len(row) != {len(names)}: wrong_length(row)",
        f" {''.join(f'f{at}, ' for at in range(len(names)))} = row",
        *checks,
        f" made = new(kind, ({', '.join(made)},))",
        " return known.setdefault(made, made)" if all_plain else " return made",
    ]
    exec("\n".join(source), scope)
    read: Reader = scope["read"]
    return read


def _mapping(keys: type, read_one: Reader) -> Reader:
    def read(item: Any) -> dict[Any, Any]:
        if type(item) is not dict:
            raise Damaged(f"{_shown(item)} where there should be a mapping")
        if keys is str:
            return {key: read_one(one) for key, one in item.items()}
        return {_number(key): read_one(one) for key, one in item.items()}

    return read


def _number(key: str) -> int:
    """JSON's keys are strings; those of the model's mappings are ids and versions."""
    if not (key.isascii() and key.isdigit() and len(key) < 16):
        raise Damaged(f"{_shown(key)} where there should be an id")
    return int(key)


def _names(types: frozenset[type]) -> str:
    return " or ".join(sorted(one.__name__ for one in types))


def _shown(item: Any) -> str:
    """A hostile file must not fill the screen."""
    if isinstance(item, list | dict):
        return f"a {type(item).__name__} of {len(item)}"
    return ascii(item)[:40] if isinstance(item, str | float | bool | NoneType) else "a number"
