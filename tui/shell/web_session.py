"""One stepper of `microtape serve`: the process that runs it, and the socket of the page that shows it.

Note [What a page may send]
  A page is a stranger's, as far as the server can know: a session takes what it understands, keeps sizes within bounds,
  and leaves out the rest without a word. A message that is too long closes the socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from typing import Any

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

DRIVER = "tui.shell.web_driver:WebDriver"
MOST_COLUMNS, MOST_ROWS = 500, 200
MOST_CHARACTERS = 1 << 20  # of a message: a large paste
GRACE = 10.0  # seconds in which a stepper that was asked to quit may do so


class Session(AppService):
    """A stepper in a process of its own, which ends with its socket."""

    def __init__(self, command: Sequence[str], socket: web.WebSocketResponse, downloads: DownloadManager) -> None:
        super().__init__(
            " ".join(command),
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=self._close,
            download_manager=downloads,
        )
        self._words = command
        self._socket = socket

    async def start(self, width: int, height: int) -> None:
        """Start the stepper in a terminal of this size."""
        await super().start(*_bounded(width, height))

    async def set_terminal_size(self, width: int, height: int) -> None:
        """Tell the stepper its new size."""
        await super().set_terminal_size(*_bounded(width, height))

    async def follow(self) -> None:
        """Pass on what the page sends, until it is closed; see Note [What a page may send]."""
        async for message in self._socket:
            try:
                said = json.loads(message.data)
            except (ValueError, TypeError, RecursionError):
                continue
            await self._take(said)

    async def _take(self, said: Any) -> None:
        match said:
            case ["stdin", str(text)]:
                await self.send_bytes(text.encode("utf-8", "ignore"))
            case ["resize", {"width": int(width), "height": int(height)}]:
                await self.set_terminal_size(width, height)
            case ["ping", str(text)]:
                await self._socket.send_json(["pong", text[:64]])
            case ["focus"]:
                await self.focus()
            case ["blur"]:
                await self.blur()

    async def run(self) -> None:
        """Pass on what the stepper draws, until it ends; then close the page's socket.

        If the process has ended before the library listens, that cancels what it has not begun, and raises.
        """
        try:
            await super().run()
        finally:
            await self._close()

    async def _close(self) -> None:
        await self._socket.close()

    async def stop(self) -> None:
        """Ask the stepper to quit, and end it if it does not; close the socket."""
        if self._task is None or self._process is None:
            return
        task, self._task = self._task, None
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        asking = asyncio.create_task(self.send_meta({"type": "quit"}))  # a stepper that hangs does not read it
        try:
            await asyncio.wait_for(self._process.wait(), GRACE)
        except TimeoutError:
            task.cancel()  # it would report an end that it did not expect
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        for one in (asking, task):
            one.cancel()
        await asyncio.wait((asking, task), timeout=GRACE)
        await self._close()

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start the process, without a shell between it and us."""
        environment = self._build_environment(width, height) | {"TEXTUAL_DRIVER": DRIVER}
        self._process = await asyncio.create_subprocess_exec(
            *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment
        )
        self._stdin = self._process.stdin
        return self._process


def _bounded(width: int, height: int) -> tuple[int, int]:
    """A size that no stepper is too small or too large for."""
    return min(max(width, 1), MOST_COLUMNS), min(max(height, 1), MOST_ROWS)
