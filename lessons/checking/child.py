"""The process in which files are tried; `observe.py` starts it and reads what it reports.

What a learner's file prints, it prints: the report goes through a channel of its own, and every line of it carries a
word that the parent made up. What the file does to this process it does to nobody else. It can falsify what is said
of it only into something else that it did, because the judging is done by the parent, which knows what is expected.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from functools import partial
from json import dumps, loads
from os import write
from typing import Any

import numpy as np

from lessons.checking.alone import alone
from lessons.checking.plain import plain
from lessons.model.lesson import AT_RANDOM


class Reporter:
    """Sends lines to the parent."""

    def __init__(self, channel: int, word: str) -> None:
        self.channel = channel
        self.word = word

    def __call__(self, event: str, **details: Any) -> None:
        """One line. It begins on a new line, whatever else has been written into the channel."""
        text = dumps({"word": self.word, "event": event, **details})
        data = f"\n{text}\n".encode()
        while data:
            data = data[write(self.channel, data) :]


def main() -> None:
    """Try every file that the order on standard input names, then end at once, whatever threads there are."""
    channel = os.dup(1)
    os.dup2(2, 1)
    order = loads(sys.stdin.buffer.readline())
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    warnings.formatwarning = _warning
    warnings.filterwarnings("once", category=UserWarning)
    report = Reporter(channel, order["word"])
    _hide_ourselves()
    _limit_memory(order["memory"])
    check = _run(order["check"], "check")
    with alone("an exercise"):
        for path in order["files"]:
            report("file", path=path)
            _try(path, _trials(check, order["names"], order["seeds"]), report)
    report("end")
    _flush()
    os._exit(0)


def _hide_ourselves() -> None:
    """Whoever imports us from a learner's file gets a copy: what is done to that makes no difference here.

    The functions of other modules that we report with are bound above, where nobody has touched them yet.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == "lessons"]:
        del sys.modules[name]
    vars(sys.modules["__main__"]).pop("main", None)


def _trials(check: types.ModuleType, names: list[str], seeds: list[int]) -> dict[str, Callable[[Any], Any]]:
    """What is to be called with the learner's module: the checks, then `at_random` with each of the seeds."""
    trials = {name: getattr(check, name) for name in names}
    for seed in seeds:
        trials[f"{AT_RANDOM} {seed}"] = partial(getattr(check, AT_RANDOM), random=np.random.default_rng(seed))
    return trials


def _try(path: str, trials: dict[str, Callable[[Any], Any]], report: Reporter) -> None:
    """Run the file, then give its module to one trial after the other."""
    report("begin", name=None)
    module = _watched(path, report, partial(_run, path, "exercise"))
    if module is None:
        return
    for name, function in trials.items():
        report("begin", name=name)
        observed = _watched(path, report, partial(_observed, function, module))
        if observed is not None:
            report("observed", name=name, value=plain(observed[0]))


def _watched(path: str, report: Reporter, action: Callable[[], Any]) -> Any:
    """What `action` returns, None if it raised, which is reported."""
    try:
        return action()
    except BaseException as error:
        report("raised", **_about(path, error))
    finally:
        _flush()
    return None


def _observed(function: Callable[[Any], Any], module: types.ModuleType) -> tuple[Any]:
    """What a check returns, which may be None, so that it can be told from nothing."""
    return (function(module),)


def _run(path: str, name: str) -> types.ModuleType:
    """The file's module, new."""
    module = types.ModuleType(name)
    module.__file__ = path
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module


def _about(path: str, error: BaseException) -> dict[str, Any]:
    """An exception, and the line of the learner's file that it came through last."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = lines[-1] if lines else None
    message = _message(error)
    if isinstance(error, SyntaxError) and error.filename == path:
        line, message = error.lineno, error.msg
    if isinstance(error, AttributeError) and getattr(error.obj, "__name__", None) == "exercise":
        message = f"your file does not define {error.name}"
    code = linecache.getline(path, line).strip() if line else ""
    return {"type": type(error).__name__, "message": message[:2000], "line": line, "code": code[:200]}


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # a learner's exception may have a __str__ of its own
        return ""


def _warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning as the learner sees it. The line that it names is often one of the checks, which are not theirs."""
    return f"{category.__name__}: {message}\n"


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _limit_memory(size: int) -> None:
    """Let an allocation beyond `size` bytes fail with a MemoryError, where the system has such a limit."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        size = size if most == resource.RLIM_INFINITY else min(size, most)
        resource.setrlimit(resource.RLIMIT_AS, (size, most))
