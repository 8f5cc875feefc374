"""DOT text to a picture: Graphviz in a child process, with a time limit. See Note [Graphviz runs elsewhere].

There is no shell, and the child finds neither the user's working directory nor the script's folder on its path: a
`pygraphviz.py` or a `dot` that happens to lie there is never run.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from viz.basics.characters import visible
from viz.basics.errors import GraphvizError
from viz.output import _render

Format: TypeAlias = Literal["svg", "png", "pdf"]

Waiting: TypeAlias = Callable[[float, float], None]

TIME_LIMIT = 30.0
TICK = 0.25  # seconds between two calls of `waiting`
MAX_SCALE = 20.0
INSTALL = (
    "no Graphviz is installed: run `pip install pygraphviz`, which brings its own (on a bare Linux it needs the "
    "system's glib, expat and libXrender), or install the system package graphviz; DOT and text (.dot, .txt) work "
    "without"
)


def render(
    dot: str,
    format: Format,
    *,
    scale: float = 1.0,
    time_limit: float = TIME_LIMIT,
    waiting: Waiting = lambda elapsed, limit: None,
) -> bytes:
    """The picture as a file's bytes. `scale` is for PNG: 1 is 96 dots per inch.

    While it takes its time, `waiting` is told now and then how many seconds have passed, of at most how many.

    Raises:
        GraphvizError: no Graphviz is installed, it failed, or it took longer than `time_limit` seconds.
    """
    if not (isinstance(scale, int | float) and 0 < scale <= MAX_SCALE):
        asked = f"{scale:g}" if isinstance(scale, int | float) else visible(repr(scale), 30)
        raise GraphvizError(f"scale={asked} is not possible: it takes a number above 0 and up to {MAX_SCALE:g}")
    dots_per_inch = f"{96 * scale:g}" if format == "png" else "72"
    ways = []
    if sys.executable:
        ways.append([sys.executable, "-P", _render.__file__, format, dots_per_inch])
    if dot_program := _system_dot():
        ways.append([dot_program, f"-T{format}", f"-Gdpi={dots_per_inch}"])
    for command in ways:
        done = _run(command, dot, time_limit, waiting)
        if done is not None and done.returncode != _render.NOT_INSTALLED:
            return _picture(done, format)
    raise GraphvizError(INSTALL)


def _system_dot() -> str | None:
    """The system's `dot`; not one through a relative entry of PATH, which lies wherever the user happens to be."""
    found = shutil.which("dot")
    return found if found and os.path.isabs(found) else None


def _run(
    command: list[str], dot: str, time_limit: float, waiting: Waiting
) -> subprocess.CompletedProcess[bytes] | None:
    """The finished child; None where it could not even start.

    NB: it reads from a file. `communicate` forgets what is left of its input when it has timed out once.
    """
    with tempfile.TemporaryFile() as given:
        given.write(dot.encode("utf-8"))
        given.seek(0)
        pipe, anywhere = subprocess.PIPE, Path(_render.__file__).anchor
        try:
            process = subprocess.Popen(command, stdin=given, stdout=pipe, stderr=pipe, cwd=anywhere)
        except OSError:
            return None
    start = time.monotonic()
    with process:
        try:
            while True:
                left = time_limit - (time.monotonic() - start)
                try:
                    said = process.communicate(timeout=max(min(left, TICK), 0.001))
                    return subprocess.CompletedProcess(command, process.returncode, *said)
                except subprocess.TimeoutExpired:
                    if left <= 0:
                        raise GraphvizError(
                            f"Graphviz was stopped after {time_limit:g} seconds: draw less with around=, show less "
                            "with show=, or give it more time with time_limit="
                        ) from None
                    waiting(time.monotonic() - start, time_limit)
        except BaseException:
            process.kill()
            raise


def _picture(done: subprocess.CompletedProcess[bytes], format: Format) -> bytes:
    said = visible(" ".join(done.stderr.decode("utf-8", "replace").split()), 300)
    if "too large for cairo" in said or "too large for gd" in said:
        raise GraphvizError(f"the picture is too large for {format}: take a smaller scale=, or save it as .svg")
    if done.returncode < 0:  # as a signal ends it on Unix
        raise GraphvizError(f"Graphviz was ended by {_signal(-done.returncode)}: {said or 'perhaps memory ran out'}")
    if done.returncode != 0 or not done.stdout:
        raise GraphvizError(f"Graphviz failed with exit code {done.returncode}: {said or 'it gave no reason'}")
    return done.stdout


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
