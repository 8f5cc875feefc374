"""Decorators with which a part declares its keys, at the methods that they run.

The footer, the command palette, the help page and `microtape keys` are generated from these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from inspect import isfunction
from typing import Any, NamedTuple, TypeVar

from textual.binding import Binding
from textual.dom import DOMNode

from tui.stepper.parts.part import Part
from tui.time.cursor import StepCursor
from tui.widgets.prompt import Purpose

Method = TypeVar("Method", bound=Callable[..., object])


class Key(NamedTuple):
    """Keys, the action that they run, and its descriptions."""

    action: str  # as Textual writes it: `move(1)`. The user's key file uses the same name
    keys: str  # as Textual writes them: `right,l`
    does: str  # for the palette, the key file and the footer
    help: str = ""  # its line on the help page, which keys with the same text share; empty: no line
    footer: int = 0  # its place in the footer, from the left; 0: not in the footer
    priority: bool = False  # whether it overrides the keys of the focused widget


class Answer(NamedTuple):
    """The method that answers a prompt."""

    purpose: Purpose
    method: Callable[[str], None]
    doing: str  # one word for the work of `prepare`: `searching`
    prepare: Callable[[StepCursor, str], object] | None  # the slow part of the work, which may run in a thread


def key(keys: str, does: str, *arguments: object, help: str = "", footer: int = 0) -> Callable[[Method], Method]:
    """Declare keys that run a part's method with these arguments; see `Key`."""

    def declare(method: Method) -> Method:
        action = f"{method.__name__}({', '.join(map(repr, arguments))})" if arguments else method.__name__
        return _declare(method, Key(action, keys, does, help, footer))

    return declare


def answers(
    purpose: Purpose,
    keys: str,
    does: str,
    *,
    help: str = "",
    footer: int = 0,
    doing: str = "",
    prepare: Callable[[StepCursor, str], object] | None = None,
) -> Callable[[Method], Method]:
    """Declare keys that open a prompt. The part's method receives the text typed there; see `Key` and `Answer`.

    The method raises LookupError or ExpressionError to refuse the text, with a message for the user.
    """

    def declare(method: Method) -> Method:
        method.answer = purpose, doing, prepare  # type: ignore[attr-defined]
        return _declare(method, Key(f"ask({purpose.name!r})", keys, does, help, footer))

    return declare


def _declare(method: Method, new: Key) -> Method:
    method.keys = (new, *getattr(method, "keys", ()))  # type: ignore[attr-defined]  # the lowest decorator runs first
    return method


def keys_of(*parts: type[Part[Any]]) -> Iterator[Key]:
    """The keys that these parts declare, in the order of their methods."""
    for part in parts:
        for _, method in _methods(part):
            yield from getattr(method, "keys", ())


def answers_of(part: Part[Any]) -> Iterator[Answer]:
    """The prompts that a part answers."""
    for name, method in _methods(type(part)):
        if hasattr(method, "answer"):
            purpose, doing, prepare = method.answer
            yield Answer(purpose, getattr(part, name), doing, prepare)


def _methods(part: type[Part[Any]]) -> Iterator[tuple[str, Any]]:
    for one in reversed(part.__mro__):
        yield from ((name, value) for name, value in vars(one).items() if isfunction(value))


def bindings(keys: Iterable[Key]) -> list[Binding]:
    """The keys as Textual's bindings: those of the footer first, in its order."""
    every = sorted(keys, key=lambda one: one.footer or 1_000)
    return [Binding(one.keys, one.action, one.does, show=one.footer > 0, priority=one.priority) for one in every]


def help_rows(keys: Iterable[Key]) -> list[tuple[tuple[str, ...], str]]:
    """The lines of the help page: the actions that each line is about, and its text."""
    rows: dict[str, tuple[str, ...]] = {}
    for one in keys:
        if one.help:
            rows[one.help] = (*rows.get(one.help, ()), one.action)
    return [(actions, text) for text, actions in rows.items()]


def attach(widget: DOMNode, part: Part[Any]) -> None:
    """Give a widget a part's actions: for `move(1)`, Textual looks up `action_move` on the widget."""
    for name, method in _methods(type(part)):
        if any(one.action.partition("(")[0] == name for one in getattr(method, "keys", ())):
            setattr(widget, f"action_{name}", getattr(part, name))
