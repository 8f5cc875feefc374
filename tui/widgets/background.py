"""What may take long in a long recording goes on beside the keys: it says so after a while, and can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from threading import Thread

from textual.reactive import reactive
from textual.screen import Screen

from tui.shell.key_names import KeyNames
from tui.shell.keys import actions_of
from tui.shell.progress import PATIENCE
from tui.time.cursor import StepCursor

AT_ONCE = 10_000  # rows of a tape for which nothing takes long
BESIDE = "beside"  # the name of threads in which something is worked out


class PatientScreen(Screen[None]):
    """A screen with a cursor, on which one need not wait."""

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)
    working: reactive[str] = reactive("", repaint=False)  # at what, once that has gone on for a while

    def __init__(self, *, ascii: bool = False) -> None:
        super().__init__()
        self._ascii = ascii
        self._work: object | None = None  # that goes on

    def key(self, action: str) -> str:
        """What the key of an action is called."""
        return self.key_names.first(action)

    @property
    def key_names(self) -> KeyNames:
        """What the keys of all actions are called."""
        return KeyNames(actions_of(self), ascii=self._ascii)

    def prepared(self, what: str, prepare: Callable[[], object], then: Callable[[], object]) -> bool:
        """Work something out. Whether that is done, as in a short tape; in a long one `then` is called when it is.

        What is worked out must be remembered where it will be looked for. Nothing is called if another pass is shown by
        then, if it was stopped, or if something else is asked for.
        """
        self.stop_working()
        if self.cursor is None or len(self.cursor.timeline.rows) <= AT_ONCE:
            prepare()
            return True
        here = self._work = object()
        self.set_timer(PATIENCE, lambda: self._tell(here, what))
        self.beside(self._prepare, here, self.cursor, prepare, then)
        return False

    def stop_working(self) -> bool:
        """Whether there was anything to stop."""
        was, self._work = self._work is not None, None
        self.working = ""
        return was

    def _tell(self, here: object, what: str) -> None:
        if self._work is here:
            self.working = f"{what} ... {self.key('escape')} stops"

    def beside(self, work: Callable[..., object], *arguments: object) -> None:
        """Do it in a thread that ends with the program, wherever it is: nobody who quits waits for what he stopped."""

        def run() -> None:
            try:
                work(*arguments)
            except Exception as error:  # a fault of ours, which is to end the program as one in any other place does
                self.call_later(_raise, error)

        Thread(target=run, name=BESIDE, daemon=True).start()

    def _prepare(
        self, here: object, cursor: StepCursor, prepare: Callable[[], object], then: Callable[[], object]
    ) -> None:
        prepare()
        self.call_later(self._prepared, here, cursor, then)

    async def _prepared(self, here: object, cursor: StepCursor, then: Callable[[], object]) -> None:
        if self._work is not here:
            return
        self.stop_working()
        if self.cursor is not None and self.cursor.timeline is cursor.timeline:
            doing = then()
            if isawaitable(doing):
                await doing


def _raise(error: Exception) -> None:
    raise error
