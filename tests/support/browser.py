"""A real browser for tests: headless Chromium, controlled over a pipe with the DevTools protocol.

Debian's package `chromium` suffices; no driver or network is needed. Without Chromium, `needs_browser` skips a test.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

F = TypeVar("F", bound=Callable[..., Any])

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
PATIENCE = 180.0  # seconds to wait for Chromium to start; a busy machine may take long

# Chromium reads from descriptor 3 and writes to 4, whatever the descriptors of our pipes.
START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3), os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""

_skipped_without = pytest.mark.skipif(
    not os.environ.get("MICROTAPE_NO_SKIP") and not CHROMIUM, reason="Chromium is not installed"
)


def needs_browser(test: F) -> F:
    """Mark a test slow, and skip it if there is no Chromium, unless MICROTAPE_NO_SKIP is set."""
    marked: F = pytest.mark.slow(_skipped_without(test))
    return marked


class Browser:
    """A Chromium with one page. `requests` are the addresses that it requested, `complaints` its console messages."""

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM, "this test needs Chromium: install the package chromium"
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}",
            "--remote-debugging-pipe", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, str(theirs_in), str(theirs_out), *command],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._send(f"{domain}.enable")

    def close(self) -> None:
        """Close the browser."""
        with contextlib.suppress(OSError):
            self._send("Browser.close")
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def open(
        self, path: Path | str, *, size: tuple[int, int] = (1440, 900), script: bool = True, dark: bool = False
    ) -> None:
        """Open a file or an address; with a width below 800 pixels, as a phone."""
        address = path if isinstance(path, str) else path.as_uri()
        self.resize(size)
        self._send("Emulation.setScriptExecutionDisabled", value=not script)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._send("Emulation.setEmulatedMedia", features=scheme)
        self.requests.clear()
        self.complaints.clear()
        self._send("Page.navigate", url="about:blank")
        self._send("Page.navigate", url=address)
        deadline = time.monotonic() + PATIENCE
        while self.evaluate("document.readyState + location.protocol") != f"complete{address.partition(':')[0]}:":
            assert time.monotonic() < deadline, f"{path} was not loaded"
            time.sleep(0.02)

    def resize(self, size: tuple[int, int]) -> None:
        """Give the window that size."""
        self._send("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1,
                   mobile=size[0] < 800)  # fmt: skip

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page; a promise is awaited."""
        answer = self._send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press and release keys, given by their names in the browser."""
        for key in keys:
            text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
            codes = {
                "ArrowRight": 39,
                "ArrowLeft": 37,
                "Home": 36,
                "End": 35,
                "Enter": 13,
                "Tab": 9,
                "ArrowDown": 40,
                "ArrowUp": 38,
            }
            code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
            self._send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
            self._send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def click(self, selector: str) -> None:
        """Click the centre of the element with the mouse."""
        where = self.centre(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._mouse(kind, where, button="left", clickCount=1)

    def drag(self, selector: str, x: float, y: float) -> None:
        """Drag the centre of the element that far with the mouse."""
        start = self.centre(selector)
        self._mouse("mousePressed", start, button="left", clickCount=1)
        for part in (0.1, 0.5, 1.0):
            self._mouse("mouseMoved", (start[0] + part * x, start[1] + part * y), button="left", buttons=1)
        self._mouse("mouseReleased", (start[0] + x, start[1] + y), button="left", clickCount=1)

    def wheel(self, selector: str, amount: float) -> None:
        """Turn the mouse's wheel over the centre of the element, downwards if the amount is above 0."""
        self._mouse("mouseWheel", self.centre(selector), deltaX=0, deltaY=amount)

    def centre(self, selector: str) -> tuple[float, float]:
        """The centre of the element in the window."""
        x, y = self.evaluate(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        return x, y

    def _mouse(self, kind: str, where: tuple[float, float], **parameters: Any) -> None:
        self._send("Input.dispatchMouseEvent", type=kind, x=where[0], y=where[1], **parameters)

    def printed(self) -> bytes:
        """The page as a PDF, as the browser prints it."""
        return base64.b64decode(self._send("Page.printToPDF")["data"])

    def screenshot(self) -> bytes:
        """The page as a PNG."""
        return base64.b64decode(self._send("Page.captureScreenshot", format="png")["data"])

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None and method != "Browser.close":
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, about = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(about["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(about["exceptionDetails"]["text"])

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            assert ready, "Chromium does not answer"
            part = os.read(self._in, 1 << 16)
            if not part:
                raise OSError("Chromium has ended")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer
