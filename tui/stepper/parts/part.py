"""The base of the stepper's parts, and the part of the stepper's interface that they use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, overload

from textual.app import App
from textual.css.query import QueryType
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker

from tui.shell.key_names import KeyNames
from tui.time.cursor import StepCursor

Severity: TypeAlias = Literal["information", "warning", "error"]
Result = TypeVar("Result")


class CursorHost(Protocol):
    """A widget that shows a moment of a recording: the stepper, or the small stepper of a lesson."""

    cursor: StepCursor | None

    @property
    def app(self) -> App[Any]:
        """The app of the widget."""

    def notify(
        self, message: str, *, severity: Severity = "information", timeout: float | None = None, markup: bool = True
    ) -> None:
        """Show a notification."""

    def stop_playing(self) -> None:
        """Stop, if it is playing."""


class Stepper(CursorHost, Protocol):
    """The interface of the stepper's screen that its parts use. Most of it is Textual's."""

    ascii: bool

    def key(self, action: str) -> str:
        """The name of the key of an action."""

    @property
    def key_names(self) -> KeyNames:
        """The names of the keys of all actions."""

    def changed(self) -> None:
        """Update the widgets, after the state of a part has changed."""

    def say_above(self, text: str, *, bad: bool = False) -> None:
        """Show a banner; an empty text removes it."""

    @property
    def focused(self) -> Widget | None: ...  # noqa: D102 - Textual's

    @overload
    def query_one(self, selector: str) -> Widget: ...
    @overload
    def query_one(self, selector: type[QueryType]) -> QueryType: ...
    @overload
    def query_one(self, selector: str, expect_type: type[QueryType]) -> QueryType: ...

    def set_class(self, add: bool, *class_names: str) -> object: ...  # noqa: D102
    def set_focus(self, widget: Widget | None) -> None: ...  # noqa: D102
    def refresh_bindings(self) -> None: ...  # noqa: D102
    def set_timer(self, delay: float, callback: Callable[[], object]) -> Timer: ...  # noqa: D102
    def set_interval(self, interval: float, callback: Callable[[], object]) -> Timer: ...  # noqa: D102
    def call_later(self, callback: Callable[..., object], *args: Any) -> bool: ...  # noqa: D102
    def run_worker(self, work: Callable[[], None], *, thread: bool) -> Worker[None]: ...  # noqa: D102


Host = TypeVar("Host", bound=CursorHost)


class Part(Generic[Host]):
    """A part of the stepper."""

    def __init__(self, stepper: Host) -> None:
        self.stepper = stepper

    @property
    def cursor(self) -> StepCursor:
        """The moment that is shown; it exists once the screen is mounted."""
        cursor = self.stepper.cursor
        assert cursor is not None
        return cursor

    @cursor.setter
    def cursor(self, moment: StepCursor) -> None:
        self.stepper.cursor = moment

    def mounted(self) -> None:
        """Called when the screen shows its first moment."""

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Called when the cursor has moved."""

    def unmounted(self) -> None:
        """Called when the screen closes."""

    def open_page(self, page: Screen[Result], then: Callable[[Result | None], None] | None = None) -> None:
        """Open a page over the stepper, and call `then` with its result."""
        self.stepper.app.push_screen(page, then)

    def say(self, text: str, seconds: float | None = None, *, severity: Severity = "information") -> None:
        """Show a notification."""
        self.stepper.notify(text, severity=severity, timeout=seconds, markup=False)
