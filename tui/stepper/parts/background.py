"""Work that may take long in a long recording. It runs in a thread, says so after a while, and can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from threading import Thread

from tui.shell.progress import PATIENCE
from tui.stepper.parts.part import Part, Stepper
from tui.time.cursor import StepCursor

AT_ONCE = 10_000  # rows of a tape for which nothing takes long
PAUSE = 0.3  # seconds before work begins that the user has not asked for: the first paint comes first
THREAD = "microtape-background"  # the name of each thread


class Background(Part[Stepper]):
    """Runs work in threads. The user waits for one piece of it at a time, which `doing` names after a while."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper)
        self.doing = ""
        self._wanted: object | None = None  # the work that the user waits for

    def prepared(self, what: str, prepare: Callable[[], object], then: Callable[[], object]) -> bool:
        """Compute something that its functions cache, before it is needed. Returns whether that is done.

        In a short tape it is done at once. In a long one a thread does it, and `then` is called afterwards; but not if
        another pass is shown by that time, if the user has stopped it, or if they have asked for something else.
        """
        self.stop()
        if len(self.cursor.timeline.rows) <= AT_ONCE:
            prepare()
            return True
        wanted = self._wanted = object()
        self.stepper.set_timer(PATIENCE, lambda: self._tell(wanted, what))
        self.start(self._prepare, wanted, self.cursor, prepare, then)
        return False

    def stop(self) -> bool:
        """Stop waiting. Returns whether there was anything to wait for."""
        was_waiting, self._wanted = self._wanted is not None, None
        self._show("")
        return was_waiting

    def start(self, work: Callable[..., object], *arguments: object) -> None:
        """Run work in a thread. It ends with the program wherever it is: quitting waits for no work."""

        def run() -> None:
            try:
                work(*arguments)
            except Exception as error:  # a fault of ours, which ends the program as one anywhere else does
                self.stepper.call_later(_raise, error)

        Thread(target=run, name=THREAD, daemon=True).start()

    def _prepare(
        self, wanted: object, cursor: StepCursor, prepare: Callable[[], object], then: Callable[[], object]
    ) -> None:
        prepare()
        self.stepper.call_later(self._prepared, wanted, cursor, then)

    async def _prepared(self, wanted: object, cursor: StepCursor, then: Callable[[], object]) -> None:
        if self._wanted is not wanted:
            return
        self.stop()
        if self.cursor.timeline is cursor.timeline:
            doing = then()
            if isawaitable(doing):
                await doing

    def _tell(self, wanted: object, what: str) -> None:
        if self._wanted is wanted:
            self._show(f"{what} ... {self.stepper.key('escape')} stops")

    def _show(self, doing: str) -> None:
        if doing != self.doing:
            self.doing = doing
            self.stepper.changed()


def _raise(error: Exception) -> None:
    raise error
