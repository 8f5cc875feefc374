"""Checking processes that several files share. Only for files of ours: a learner's file gets a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lessons.checking.checking_process import CheckingProcess, Engine, Report


class _Shared(CheckingProcess):
    """Goes on after its last job, because starting one takes longer than most files."""

    def run(self, job: Mapping[str, Any], seconds: float, *, last: bool) -> Report:
        return super().run(job, seconds, last=False)


class SharedProcess:
    """Called with a lesson's name, it gives the process of that lesson: a new one, if a file has ended the last one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._process: _Shared | None = None
        self._lesson = ""

    def __call__(self, lesson: str = "") -> CheckingProcess:
        if self._process is None or not self._process.is_alive or lesson != self._lesson:
            self.close()
            self._process, self._lesson = _Shared(self._engine), lesson
        return self._process

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.close()


@contextmanager
def shared_process(engine: Engine = "microtape") -> Iterator[SharedProcess]:
    """One that ends with the block."""
    shared = SharedProcess(engine)
    try:
        yield shared
    finally:
        shared.close()
