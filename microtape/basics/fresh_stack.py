"""Continuing a deep recursion on the stack of another thread.

Note [Fresh stacks]
  Each backward inside of a backward takes a dozen Python frames, so that Python's recursion limit would soon end a
  deep nesting. As in torch, a deep backward therefore runs on a new thread, while the thread that called it waits. An
  exception passes through both with its whole traceback, and the new thread has the context variables of the caller.
  Code that walks the stack steps outwards with `calling_frame`, which leads from the new thread to the caller.
"""

from __future__ import annotations

import _thread
import contextvars
import ctypes
import sys
import threading
from collections.abc import Callable
from types import FrameType


def is_stack_deep() -> bool:
    """Whether this thread has used half of the frames that Python's recursion limit allows."""
    try:
        sys._getframe(sys.getrecursionlimit() // 2)
    except ValueError:
        return False
    return True


class _Local(threading.local):
    call: _Call | None = None  # the call that this thread was started for


_local = _Local()
_missing = object()


class _Call:
    """One call of a function on a new thread."""

    def __init__(self, function: Callable[[], object], caller: FrameType) -> None:
        self.function = function
        self.caller = caller
        self.context = contextvars.copy_context()
        self.first_thread: int = stack_ident()
        self.thread = 0
        self.inner: _Call | None = None  # the call for which this call's thread waits
        self.error: BaseException | None = None
        self.ended = _thread.allocate_lock()

    def run(self) -> None:
        """Run the function on this new thread, and keep the exception that it raises."""
        _local.call = self
        try:
            self.context.run(self.function)
        except BaseException as error:
            self.error = error
        finally:
            self.ended.release()

    def wait(self) -> BaseException | None:
        """Wait for the end. Returns the exception, if any, that a signal handler raised meanwhile, and passes it on."""
        interrupt = None
        while True:
            try:
                self.ended.acquire()
            except BaseException as error:  # such as KeyboardInterrupt: only a waiting main thread gets here
                interrupt = error
                self.interrupt(type(error))
            else:
                return interrupt

    def interrupt(self, error: type[BaseException]) -> None:
        """Raise `error` in the thread that all others wait for."""
        innermost = self
        while innermost.inner is not None:
            innermost = innermost.inner
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(innermost.thread), ctypes.py_object(error))


def run_on_fresh_stack(function: Callable[[], object]) -> None:
    """Call `function` on a new thread and wait for its end. Raises what it raises; see Note [Fresh stacks]."""
    call = _Call(function, sys._getframe())
    outer = _local.call
    call.ended.acquire()
    if outer is not None:
        outer.inner = call
    call.thread = _thread.start_new_thread(call.run, ())
    interrupt = call.wait()
    if outer is not None:
        outer.inner = None
    for variable, value in call.context.items():
        if variable.get(_missing) is not value:
            variable.set(value)
    error = interrupt if interrupt is not None else call.error
    try:
        if error is not None:
            raise error
    finally:
        del call, error, interrupt  # they refer to this frame


def calling_frame(frame: FrameType) -> FrameType | None:
    """The frame that called `frame`, also if that is on another thread: see Note [Fresh stacks]."""
    if frame.f_code is _Call.run.__code__:
        return frame.f_locals["self"].caller  # type: ignore[no-any-return]
    return frame.f_back


def stack_ident() -> int:
    """The identifier of the thread whose stack this thread continues: usually its own."""
    return _local.call.first_thread if _local.call is not None else _thread.get_ident()
