"""Plays events to an app as a terminal sends them, and says what went wrong."""

from __future__ import annotations

import asyncio
import os
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from textual import events as textual_events
from textual.app import App
from textual.driver import Driver
from textual.geometry import Size
from textual.keys import _character_to_key
from textual.pilot import Pilot

from tests.tui.random_events.events import Event
from tests.tui.random_events.subjects import open_app
from tui.guarded.app import GuardedApp
from tui.words.exporting import Export, ExportError

PATIENCE = 120.0  # seconds without an answer after which an app hangs


class Failure(NamedTuple):
    """How an app failed, and how many events had been sent to it by then."""

    kind: str  # the exception and the line that raised it; equal for equal failures
    sent: int
    report: str  # the traceback


def play(subject: str, events: Sequence[Event]) -> Failure | None:
    """Send the events to a subject. An app that the events end is opened again. None: nothing went wrong."""
    with tempfile.TemporaryDirectory() as folder, _at_home_in(Path(folder)):
        return asyncio.run(_play(subject, events, Path(folder)))


@contextmanager
def _at_home_in(folder: Path) -> Iterator[None]:
    """Keep what the app writes in a folder, whatever name was typed."""
    before, write = os.getcwd(), Export.write

    def write_here(self: Export, kind: Any, path: Path, *rest: Any) -> None:
        if folder.resolve() not in path.resolve().parents:
            raise ExportError("outside of the test's folder")
        write(self, kind, path, *rest)

    home = {"MICROTAPE_DATA": str(folder), "EDITOR": "true", "VISUAL": "true"}
    os.chdir(folder)
    try:
        with (
            patch.dict(os.environ, home),
            patch.object(Export, "write", write_here),
            patch.object(GuardedApp, "SURVIVES", False),
            patch.object(App, "_print_error_renderables"),  # the report has the traceback
        ):
            yield
    finally:
        os.chdir(before)


async def _play(subject: str, events: Sequence[Event], folder: Path) -> Failure | None:
    sent = 0
    while sent < len(events):
        app = open_app(subject, folder)
        try:
            async with asyncio.timeout(None) as limit, app.run_test(size=(80, 24)) as pilot:
                for event in events[sent:]:
                    sent += 1
                    limit.reschedule(asyncio.get_running_loop().time() + PATIENCE)
                    await _send(pilot, event)
                    if app._exit or app._exception is not None:
                        break
                await _settle(pilot)  # Textual's test would close the app while it is still busy, as no terminal can
        except Exception as error:
            return Failure(_kind(error), sent, "".join(traceback.format_exception(error)))
    return None


async def _send(pilot: Pilot[Any], event: Event) -> None:
    driver = pilot.app._driver
    assert driver is not None
    x, y = event.at
    if event.kind == "settle":
        await _settle(pilot)
    elif event.kind == "keys":
        for name in event.text.split():
            character = name if len(name) == 1 else " " if name == "space" else None
            key = _character_to_key(name) if len(name) == 1 else name
            driver.process_message(textual_events.Key(key, character))
    elif event.kind == "click":
        _mouse(driver, textual_events.MouseDown, event.at, button=1)
        _mouse(driver, textual_events.MouseUp, event.at, button=1)
    elif event.kind == "drag":
        _mouse(driver, textual_events.MouseDown, event.at, button=1)
        for i in range(1, 4):
            there = x + (event.to[0] - x) * i // 3, y + (event.to[1] - y) * i // 3
            _mouse(driver, textual_events.MouseMove, there, button=1)
            await asyncio.sleep(0)
        _mouse(driver, textual_events.MouseUp, event.to, button=1)
    elif event.kind == "move":
        _mouse(driver, textual_events.MouseMove, event.at)
    elif event.kind.startswith("scroll"):
        kind = getattr(textual_events, f"MouseScroll{event.kind.split()[1].title()}")
        _mouse(driver, kind, event.at)
    elif event.kind == "paste":
        driver.process_message(textual_events.Paste(event.text))
    elif event.kind == "focus":
        driver.process_message(textual_events.AppFocus())
    elif event.kind == "blur":
        driver.process_message(textual_events.AppBlur())
    elif event.kind == "resize":
        size = Size(*event.at)
        driver._size = size  # type: ignore[assignment]
        driver.process_message(textual_events.Resize(size, size))
    else:
        raise ValueError(event)
    for _ in range(8):  # the next event comes while the app is still busy with this one
        await asyncio.sleep(0)


async def _settle(pilot: Pilot[Any]) -> None:
    """Wait until the app has dealt with all events so far."""
    app: App[Any] = pilot.app
    if app._exit:
        while app._running and app._exception is None:
            await asyncio.sleep(0.01)
        return
    await pilot._wait_for_screen(timeout=PATIENCE)
    while _keys_wait(app) and app._exception is None and not app._exit:
        await asyncio.sleep(0.01)  # a key that runs an editor keeps the ones behind it waiting
        await pilot._wait_for_screen(timeout=PATIENCE)
    await asyncio.sleep(0.02)
    if app._exception is None and not app._exit:
        assert len(app.screen_stack) > 1, "nothing is left on the screen"
        app.screen._on_timer_update()


def _keys_wait(app: App[Any]) -> bool:
    return any(pump._message_queue.qsize() for pump in (app, *app.screen_stack))


def _mouse(driver: Driver, kind: Any, at: tuple[int, int], button: int = 0) -> None:
    x, y = at
    driver.process_message(
        kind(None, x, y, 0, 0, button, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y, style=None)
    )


def _kind(error: BaseException) -> str:
    """The exception's type, and the last line of ours, or of a library, that raised it."""
    inner = getattr(error, "error", error)  # a WorkerFailed
    frames = traceback.extract_tb(inner.__traceback__ or error.__traceback__)
    where = f"{'/'.join(Path(frames[-1].filename).parts[-2:])}:{frames[-1].name}" if frames else "nowhere"
    return f"{type(inner).__name__} in {where}"
