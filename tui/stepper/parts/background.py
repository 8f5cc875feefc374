"""Work that takes long in a long recording: it runs in a thread, shows a notice after a while, and can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isawaitable
from threading import Thread

from tui.shell.progress import PATIENCE
from tui.stepper.parts.part import Part, Stepper
from tui.time.cursor import StepCursor

AT_ONCE = 10_000  # rows: in a tape up to this length, no work takes long
PAUSE = 0.3  # seconds before unrequested work begins, so that the screen is painted first
THREAD = "microtape-background"  # the name of each thread


class Background(Part[Stepper]):
    """Runs work in threads. The user waits for one task at a time, which `doing` names after a while."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper)
        self.doing = ""
        self._wanted: object | None = None  # the task that the user waits for

    def prepared(self, what: str, prepare: Callable[[], object], then: Callable[[], object]) -> bool:
        """Fill the caches that the next action needs. Returns whether they are filled already.

        In a short tape, `prepare` runs at once. In a long tape it runs in a thread, and `then` is called afterwards,
        unless the user has by then gone to another pass, stopped the task or started another one.
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
        """Stop waiting for the task. Returns whether there was one."""
        was_waiting, self._wanted = self._wanted is not None, None
        self._show("")
        return was_waiting

    def start(self, work: Callable[..., object], *arguments: object) -> None:
        """Run work in a daemon thread: quitting does not wait for it."""

        def run() -> None:
            try:
                work(*arguments)
            except Exception as error:  # a bug: raise it in the app, which then ends as for any other bug
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
