"""Reads single records of the model from JSON, without trusting the file.

A record is stored as the list of its fields. How each field is read follows from the annotations in `model.py`, so the
two cannot drift apart: a `reader` is built once from the types. Summaries are stored like this, records that occur once
in a recording, and all records of formats 1 and 2; later formats store the others as `json_columns`.
"""

from __future__ import annotations

import functools
import math
import sys
import typing
from collections.abc import Callable, Collection, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, cast

_MOST = 2**63
Reader: TypeAlias = Callable[[Any], Any]


class Damaged(Exception):  # noqa: N818 - no user sees it: `load` turns it into a RecordingError
    """The file contains something that no recording can contain."""


class ValueType:
    """Stands for `model.Value` while annotations are evaluated: that union exists only for the type checker."""


@functools.cache
def fields(record: type) -> Mapping[str, Any]:
    """The field names and types of a record: a named tuple or dataclass of `model.py`."""
    return typing.get_type_hints(record, vars(sys.modules[record.__module__]), {"Value": ValueType})


def defaults(record: Any) -> Mapping[str, Any]:
    """The fields at the end of a record that may be missing in a file, as those of older formats are."""
    return getattr(record, "_field_defaults", {})


def reader(kind: Any, value: Reader) -> Reader:
    """A function from parsed JSON to `kind`, which raises `Damaged` for anything else.

    Args:
        kind: a type as in the model: int, str, bool, float, Literal, union with None, tuple, Mapping, named tuple.
        value: reads the entry that stands for an array or a summary.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is ValueType:
        return value
    if kind is float:
        return _float
    if origin is Literal:
        return _one_of(arguments)
    if origin is UnionType or origin is typing.Union:
        (present,) = [argument for argument in arguments if argument is not NoneType]
        read_present = reader(present, value)
        return lambda item: None if item is None else read_present(item)
    if origin is tuple and arguments[-1] is Ellipsis:
        read_each = _many(reader(arguments[0], value))
        return _numbers(arguments[0], read_each) if arguments[0] in (int, float | None) else read_each
    if origin is tuple:
        return _row(tuple, "a tuple", [reader(argument, value) for argument in arguments], {})
    if origin is Mapping:
        return _mapping(arguments[0], reader(arguments[1], value))
    if issubclass(kind, tuple):
        return _row(kind, kind.__name__, [reader(field, value) for field in fields(kind).values()], defaults(kind))
    return _plain(kind)


def _plain(kind: type) -> Reader:
    def read(item: Any) -> Any:
        if type(item) is not kind:
            raise Damaged(f"{shown(item)} where there should be {kind.__name__}")
        if type(item) is int:
            check_integers((item,))
        return item

    return read


def _float(item: Any) -> float:
    if type(item) is not float and type(item) is not int:
        raise Damaged(f"{shown(item)} where there should be a number")
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
            raise Damaged(f"{shown(item)} is none of {', '.join(allowed)}")
        return item

    return read


def _many(read_one: Reader) -> Reader:
    def read(item: Any) -> tuple[Any, ...]:
        if type(item) is not list:
            raise Damaged(f"{shown(item)} where there should be a list")
        for at, one in enumerate(item):  # in place, to hold only one copy
            item[at] = read_one(one)
        return tuple(item)

    return read


def _numbers(kind: Any, read_each: Reader) -> Reader:
    """Of numbers, of which a summary has over a hundred: they are looked at one by one only if something is odd."""
    usual = {int} if kind is int else {float, NoneType}

    def read(item: Any) -> tuple[Any, ...]:
        if type(item) is not list or not usual.issuperset(map(type, item)):
            return cast("tuple[Any, ...]", read_each(item))
        if kind is int:
            check_integers(item)
        elif not math.isfinite(sum(filter(None, item))):
            return cast("tuple[Any, ...]", read_each(item))
        return tuple(item)

    return read


def _row(kind: Any, name: str, readers: list[Reader], defaults: Mapping[str, Any]) -> Reader:
    ends = [*defaults.values()]

    def read(row: Any) -> Any:
        missing = len(readers) - len(row) if type(row) is list else -1
        if not 0 <= missing <= len(ends):
            raise Damaged(f"{shown(row)} where there should be the {len(readers)} fields of {name}")
        found = [read_one(item) for read_one, item in zip(readers, row, strict=False)]
        return tuple.__new__(kind, found + ends[len(ends) - missing :])

    return read


def _mapping(keys: type, read_one: Reader) -> Reader:
    def read(item: Any) -> dict[Any, Any]:
        if type(item) is not dict:
            raise Damaged(f"{shown(item)} where there should be a mapping")
        if keys is str:
            return {key: read_one(one) for key, one in item.items()}
        return {_number(key): read_one(one) for key, one in item.items()}

    return read


def _number(key: str) -> int:
    """A key of a mapping as a number: JSON's keys are strings, the model's are ids and versions."""
    if not (key.isascii() and key.isdigit() and len(key) < 16):
        raise Damaged(f"{shown(key)} where there should be an id")
    return int(key)


def check_integers(numbers: Collection[int]) -> None:
    """Raise Damaged unless they all fit into 64 bits: a viewer adds to them, and prints them.

    The lowest and the highest number of 64 bits are refused: in columns, these stand for None and for what is higher.
    """
    if numbers and not -_MOST < min(numbers) <= max(numbers) < _MOST - 1:
        raise Damaged("a number out of range")


def shown(item: Any) -> str:
    """A short text for what was found instead: a hostile file must not fill the screen."""
    if isinstance(item, list | dict):
        return f"a {type(item).__name__} of {len(item)}"
    return ascii(item)[:40] if isinstance(item, str | float | bool | NoneType) else "a number"
