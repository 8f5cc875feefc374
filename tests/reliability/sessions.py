"""Many pages of `microtape serve` at once: what they take, and how soon each answers a key.

python -m tests.reliability.sessions --count 50
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.reliability.figures import write_figures
from tests.support.serving import PATIENCE, serving

RIGHT, LEFT = "\x1b[C", "\x1b[D"
KEYS = ((RIGHT, b"step 1 of 5"), (RIGHT, b"step 2 of 5"), (LEFT, b"step 1 of 5"), (LEFT, b"step 0 of 5"))


class Page:
    """A page that shows the stepper: keys go in, and what the terminal would show comes out."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._heard = b""
        self._more = asyncio.Event()

    async def read_on(self) -> None:
        """Read what comes, as long as something does: a page that is silent is closed."""
        async for message in self._socket:
            self._heard += message.data if isinstance(message.data, bytes) else message.data.encode()
            self._more.set()

    async def hear(self, part: bytes) -> None:
        """Wait until the stepper has written this."""
        async with asyncio.timeout(PATIENCE):
            while part not in self._heard:
                self._more.clear()
                await self._more.wait()
        self._heard = b""

    async def press(self, key: str, answer: bytes) -> float:
        """Press a key. Returns how many seconds the answer took."""
        began = time.monotonic()
        await self._socket.send_json(["stdin", key])
        await self.hear(answer)
        return time.monotonic() - began

    async def answer_times(self) -> list[float]:
        """Press keys one after the other, and come back to where it began."""
        return [await self.press(key, answer) for key, answer in KEYS]


async def measure(folder: Path, count: int) -> dict[str, float]:
    """Open the pages, press keys in one and then in all at once, and kill the server."""
    from aiohttp import ClientSession

    with serving(folder) as (url, server):
        async with ClientSession() as client, asyncio.TaskGroup() as reading:
            origin = {"Origin": f"http://{urlsplit(url).netloc}"}
            pages = []
            for _ in range(count):
                page = Page(await client.ws_connect(f"{url}ws?width=120&height=40", headers=origin))
                reading.create_task(page.read_on())
                await page.hear(b"step 0 of 5")
                pages.append(page)
            sessions = sessions_of(server.pid)
            megabytes = sum(map(memory, (server.pid, *sessions))) / 1e6
            alone = await pages[0].answer_times()
            together = [
                one for times in await asyncio.gather(*(page.answer_times() for page in pages)) for one in times
            ]
            server.kill()
            end = time.monotonic() + PATIENCE
            while left := [one for one in sessions if not has_ended(one)]:
                if time.monotonic() > end:
                    break
                await asyncio.sleep(0.05)
    return {
        "sessions": len(sessions),
        "megabytes": round(megabytes),
        "alone_ms": round(statistics.median(alone) * 1e3),
        "together_ms": round(statistics.median(together) * 1e3),
        "slowest_ms": round(max(together) * 1e3),
        "left": len(left),
    }


def sessions_of(server: int) -> list[int]:
    """The processes that a server has started."""
    threads = Path(f"/proc/{server}/task").iterdir()
    return [int(process) for one in threads for process in (one / "children").read_text().split()]


def has_ended(process: int) -> bool:
    """Whether a process is gone, or only waits for its parent to ask."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True


def memory(process: int) -> int:
    """The memory in bytes that a process has for itself, and its share of what it shares with others."""
    found = [line.split() for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()]
    return next(int(words[1]) * 1024 for words in found if words[0] == "Pss:")


def main() -> int:
    """Measure and print. Returns 1 if a session outlives its server."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.sessions")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--figures", type=Path, help="a file for what was counted, for RELIABILITY.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(Path(folder), options.count))
    print(
        f"{found['sessions']} sessions: {found['megabytes']:,} MB in all; a key is answered in {found['alone_ms']} ms,"
    )
    print(f"pressed in all at once in {found['together_ms']} ms, at most {found['slowest_ms']} ms;", end=" ")
    print(f"{found['left']} outlive their server")
    if options.figures is not None:
        write_figures(options.figures, **found)
    return 1 if found["left"] or found["sessions"] != options.count else 0


if __name__ == "__main__":
    sys.exit(main())
