"""A server of the stepper, for tests."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from microtape import save
from tests.support.recordings import handmade

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `microtape serve` on the diamond: its address, and the server, which is killed if it runs at the end."""
    save(handmade.diamond(), folder / "run.tape")
    command = [sys.executable, "-m", "microtape", "serve", str(folder / "run.tape"), "--port", str(free_port())]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MICROTAPE_REMEMBER": "0"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:")
            end = time.monotonic() + PATIENCE
            while not _listens(urlsplit(url).port):
                assert time.monotonic() < end
                time.sleep(0.05)
            yield url, server
        finally:
            server.kill()


def _listens(port: int | None) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
