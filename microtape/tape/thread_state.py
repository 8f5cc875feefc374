"""The state of a thread that contexts set: grad mode, inference mode, saved-tensor hooks, settings.

Note [State around user code]
  As in torch, every node of a backward pass starts with the state that the thread had when the pass began (with grad
  mode as `create_graph` says). A context that a hook or a Function's backward enters and does not leave therefore ends
  with that node: the engine runs user code inside of `UserCode`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from microtape.basics.fresh_stack import is_stack_deep, run_on_fresh_stack
from microtape.basics.settings import settings
from microtape.tape.grad_mode import mode
from microtape.tape.inference import inference_marker
from microtape.tape.watch import Watcher, watch


class ThreadState:
    """The state of the current thread at the time of the call; `restore` also works on another thread."""

    __slots__ = ("mode", "settings")

    def __init__(self) -> None:
        self.mode: dict[str, Any] = vars(mode).copy()
        self.settings: dict[str, Any] = vars(settings).copy()

    def restore(self) -> None:
        """Give the current thread this state."""
        if vars(settings) != self.settings:
            vars(settings).clear()
            vars(settings).update(self.settings)
        now = vars(mode)
        if now == self.mode:
            return
        joined = _joined()
        now.clear()
        now.update(self.mode)
        wanted = _joined()
        common = 0
        while common < min(len(joined), len(wanted)) and joined[common] is wanted[common]:
            common += 1
        for watcher in reversed(joined[common:]):
            watch.leave(watcher)
        for watcher in wanted[common:]:
            watch.join(watcher)


class UserCode:
    """The context in which hooks, callbacks and Functions run; see Note [State around user code]."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = ThreadState()
        mode.in_user_code = True

    def __exit__(self, *_: object) -> None:
        self._before.restore()


def run_here_or_on_fresh_stack(function: Callable[[], None]) -> None:
    """Call `function`; if backward is already nested deeply, on a new thread with the state of this one.

    See Note [Fresh stacks]. Raises what `function` raises.
    """
    if not (mode.in_user_code and is_stack_deep()):
        function()
        return
    state = ThreadState()

    def run() -> None:
        fresh = ThreadState()
        state.restore()
        try:
            function()
        finally:
            fresh.restore()

    run_on_fresh_stack(run)


def _joined() -> tuple[Watcher, ...]:
    """The observers that have joined because of this thread's state."""
    return (*((inference_marker,) if mode.inference else ()), *mode.saved_hooks)
