"""The state of a thread that its contexts set: grad mode, inference mode, saved-tensor hooks, settings.

Note [State around user code]
  As in torch, every node of a backward pass starts with the state that the thread had when the pass began (with grad
  mode as `create_graph` says). A context that a hook or a Function's backward enters and does not leave therefore ends
  with that node. The engine captures the state before a node that runs user code, and restores it afterwards.
"""

from __future__ import annotations

from typing import Any

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


def _joined() -> tuple[Watcher, ...]:
    """The observers that have joined because of this thread's state."""
    return (*((inference_marker,) if mode.inference else ()), *mode.saved_hooks)
