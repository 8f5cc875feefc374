"""The process in which files are checked; `checking_process.py` starts it and reads its report.

The report has its own channel, separate from what the file prints, and every line of it carries a secret token from
the parent process. A file can damage only this process. Even a forged report cannot pass the checks, because the parent
compares it with the expected results, which a process with a learner's file does not know.
"""

from __future__ import annotations

import contextlib
import importlib
import linecache
import os
import signal
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Callable
from functools import partial
from json import dumps, loads
from os import getppid, write
from time import sleep
from typing import Any

import numpy as np

import microtape
from lessons.checking.no_subprocesses import no_subprocesses
from lessons.checking.plain_data import difference, plain
from lessons.model.lesson import AT_RANDOM
from microtape.basics.renamed import Renamed

ENGINE = os.path.join(os.path.dirname(microtape.__file__), "")
LOOK = 0.5  # seconds between two looks at whether the parent is there


class Reporter:
    """Sends lines to the parent."""

    def __init__(self, channel: int, token: str) -> None:
        self.channel = channel
        self.token = token

    def __call__(self, event: str, **details: Any) -> None:
        """Send one event as a line. It starts with a line break, in case the file has written into the channel."""
        text = dumps({"token": self.token, "event": event, **details})
        data = f"\n{text}\n".encode()
        while data:
            data = data[write(self.channel, data) :]


def main(engine: str) -> None:
    """Do every job on standard input, then exit at once, even if threads are still running.

    A job names files to check. `engine` is the package that they get when they import microtape.
    """
    if hasattr(os, "killpg"):
        threading.Thread(target=_end_with_parent, args=(getppid(), os.killpg), daemon=True).start()
    channel, jobs = os.dup(1), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - stays open as long as the process
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    warnings.formatwarning = _warning
    warnings.filterwarnings("once", category=UserWarning)
    if engine != "microtape":
        _replace_engine(engine)
    _hide_ourselves()
    with no_subprocesses("an exercise"):
        while line := jobs.readline():
            _do(loads(line), channel)
    _flush()
    os._exit(0)


def _do(job: dict[str, Any], channel: int) -> None:
    """Check the files of a job."""
    report = Reporter(channel, job["token"])
    _limit_memory(job["memory"])
    check = _run(job["check"], "check")
    for path, text in job["files"]:
        report("file", path=path)
        _try(path, text, _trials(check, job["names"], job["seeds"]), job["right"], report)
    report("end")


def _end_with_parent(parent: int, kill_group: Callable[[int, int], None]) -> None:
    """Kill this process, and all that it has started, once the parent is gone: nobody else would end a file's loop."""
    while getppid() == parent:
        sleep(LOOK)
    kill_group(os.getpid(), signal.SIGKILL)


def _replace_engine(engine: str) -> None:
    """From now on, `import microtape` gives the package of that name. What this process has imported stays in use."""
    for part in ("", ".autograd.functional", ".nn.functional", ".utils.checkpoint"):
        importlib.import_module(engine + part)  # may start processes, which is forbidden later
    for name in [name for name in sys.modules if name.partition(".")[0] == "microtape"]:
        del sys.modules[name]
    Renamed("microtape", engine, f"{engine} has no module {{}}: it is microtape's own").start()


def _hide_ourselves() -> None:
    """Unload this package. A learner's file that imports it gets a copy, and changing the copy changes nothing here.

    The report's functions from other modules are imported by name above, before the file could replace them.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == "lessons"]:
        del sys.modules[name]
    vars(sys.modules["__main__"]).pop("main", None)


def _trials(check: types.ModuleType, names: list[str], seeds: list[int]) -> dict[str, Callable[[Any], Any]]:
    """The functions to call with the learner's module: the checks, then `at_random` once for each seed."""
    trials = {name: getattr(check, name) for name in names}
    for seed in seeds:
        trials[f"{AT_RANDOM} {seed}"] = partial(getattr(check, AT_RANDOM), random=np.random.default_rng(seed))
    return trials


def _try(
    path: str, text: str | None, trials: dict[str, Callable[[Any], Any]], right: dict[str, Any], report: Reporter
) -> None:
    """Run the file, then call every trial with its module, or up to the first one that does not do what is right."""
    report("begin", name=None)
    module = _watched(path, report, partial(_run, path, "exercise", text))
    if module is None:
        return
    for name, function in trials.items():
        report("begin", name=name)
        observed = _watched(path, report, partial(_observed, function, module))
        did = None if observed is None else plain(observed[0])
        if observed is not None:
            report("observed", name=name, value=did)
        if name in right and (observed is None or difference(did, right[name]) is not None):
            return


def _watched(path: str, report: Reporter, action: Callable[[], Any]) -> Any:
    """What `action` returns; None if it raised an exception, which is reported."""
    try:
        return action()
    except BaseException as error:
        report("raised", **_about(path, error))
    finally:
        _flush()
    return None


def _observed(function: Callable[[Any], Any], module: types.ModuleType) -> tuple[Any]:
    """What a check returns, in a tuple, because it may be None."""
    return (function(module),)


def _run(path: str, name: str, text: str | None = None) -> types.ModuleType:
    """A new module with the file's code, or with the code of `text`."""
    module = types.ModuleType(name)
    module.__file__ = path
    with open(path, "rb") as file:
        code = compile(file.read() if text is None else text, path, "exec", dont_inherit=True)
    if text is not None:  # errors quote its lines, not those of the file
        linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    exec(code, module.__dict__)
    return module


def _about(path: str, error: BaseException) -> dict[str, Any]:
    """An exception, and the last line of the learner's file that it passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    line = lines[-1] if lines else None
    message = _message(error)
    if isinstance(error, SyntaxError) and error.filename == path:
        line, message = error.lineno, error.msg
    if isinstance(error, AttributeError) and getattr(error.obj, "__name__", None) == "exercise":
        message = f"your file does not define {error.name}"
    code = linecache.getline(path, line).strip() if line else ""
    in_backward = any(frame.name in ("backward", "grad") and frame.filename.startswith(ENGINE) for frame in frames)
    return {
        "type": type(error).__name__,
        "message": message[:2000],
        "line": line,
        "code": code[:200],
        "in_backward": in_backward,
    }


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # a learner's exception may define __str__
        return ""


def _warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning as the learner sees it, without its line, which is often a line of a check."""
    return f"{category.__name__}: {message}\n"


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _limit_memory(size: int) -> None:
    """Make allocations beyond `size` bytes raise MemoryError, if the system supports such a limit."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        size = size if most == resource.RLIM_INFINITY else min(size, most)
        resource.setrlimit(resource.RLIMIT_AS, (size, most))
