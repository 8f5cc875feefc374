"""Turns DOT text into a picture: Graphviz in a child process, with a time limit. See Note [Graphviz runs elsewhere].

There is no shell, and neither the working directory nor the script's folder is on the child's path: a `pygraphviz.py`
or a `dot` that lies in one of them is never run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Literal, TypeAlias

from microtape.basics.signals import signal_name
from viz.basics.characters import visible
from viz.basics.errors import GraphvizError
from viz.output import graphviz_api

Format: TypeAlias = Literal["svg", "png", "pdf"]

Waiting: TypeAlias = Callable[[float, float], None]

TIME_LIMIT = 30.0
TICK = 0.25  # seconds between two calls of `waiting`
MAX_SCALE = 20.0
INSTALL = (
    "Graphviz is not installed: run `pip install pygraphviz`, which includes it (on a bare Linux it needs the "
    "system's glib, expat and libXrender), or install the system package graphviz; DOT and text (.dot, .txt) need "
    "no Graphviz"
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

    While Graphviz runs, `waiting` is called repeatedly with the seconds passed and the time limit.

    Raises:
        GraphvizError: `scale` or `time_limit` is not valid, or Graphviz is not installed, failed, or took longer than
            `time_limit` seconds.
    """
    if not (isinstance(scale, int | float) and 0 < scale <= MAX_SCALE):
        raise GraphvizError(f"scale={_asked(scale)} is not valid: give a number above 0, up to {MAX_SCALE:g}")
    if not (isinstance(time_limit, int | float) and time_limit > 0):
        raise GraphvizError(f"time_limit={_asked(time_limit)} is not valid: give a number of seconds above 0")
    dots_per_inch = f"{96 * scale:g}" if format == "png" else "72"
    ways = []
    if sys.executable:
        ways.append([sys.executable, "-P", graphviz_api.__file__, format, dots_per_inch])
    if dot_program := _system_dot():
        ways.append([dot_program, f"-T{format}", f"-Gdpi={dots_per_inch}"])
    for command in ways:
        done = _run(command, dot, time_limit, waiting)
        if done is not None and done.returncode != graphviz_api.NOT_INSTALLED:
            return _picture(done, format)
    raise GraphvizError(INSTALL)


def _asked(value: object) -> str:
    """An option as it was given."""
    return f"{value:g}" if isinstance(value, int | float) else visible(repr(value), 30)


def _system_dot() -> str | None:
    """The system's `dot`, ignoring relative entries of PATH, which depend on the working directory."""
    found = shutil.which("dot")
    return found if found and os.path.isabs(found) else None


def _run(
    command: list[str], dot: str, time_limit: float, waiting: Waiting
) -> subprocess.CompletedProcess[bytes] | None:
    """The finished child; None if it could not start.

    NB: the child reads from a file, because `communicate` loses the rest of its input after a timeout.
    """
    with _given(dot) as given:
        pipe, anywhere = subprocess.PIPE, Path(graphviz_api.__file__).anchor
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


def _given(dot: str) -> IO[bytes]:
    """The text in a file, at its start."""
    with contextlib.ExitStack() as stack:
        try:
            given = stack.enter_context(tempfile.TemporaryFile())
            given.write(dot.encode("utf-8"))
            given.seek(0)
        except OSError as error:
            reason = error.strerror or str(error)
            raise GraphvizError(f"no temporary file can be written: {visible(reason, 300)}") from None
        stack.pop_all()
    return given


def _picture(done: subprocess.CompletedProcess[bytes], format: Format) -> bytes:
    said = visible(" ".join(done.stderr.decode("utf-8", "replace").split()), 300)
    if "too large for cairo" in said or "too large for gd" in said:
        raise GraphvizError(f"the picture is too large for {format}: take a smaller scale=, or save it as .svg")
    if done.returncode < 0:  # ended by a signal, on Unix
        name = signal_name(-done.returncode)
        raise GraphvizError(f"Graphviz was killed by {name}: {said or 'perhaps memory ran out'}")
    if done.returncode != 0 or not done.stdout:
        raise GraphvizError(f"Graphviz failed with exit code {done.returncode}: {said or 'it gave no reason'}")
    return done.stdout
