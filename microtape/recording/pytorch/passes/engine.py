"""Stands in front of torch's engine, so that each backward pass is announced before it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.autograd import Variable

from microtape.basics.replaced import Replaced
from microtape.recording.pytorch.reading.traced import is_compiling

Runner = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]

_dynamo: Any = torch._C._dynamo
_Original: Any = type(Variable._execution_engine)


class WatchedEngine(_Original):  # type: ignore[misc]
    """torch's engine, whose passes the listener runs.

    It is a subclass, because DistributedDataParallel calls other methods of it. What C++ calls directly is not seen:
    `backward` inside of a scripted function.
    """

    listener: Runner
    replaced: Replaced  # torch's engine, or that of another recorder

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        """Run a pass."""
        if is_compiling():
            return super().run_backward(*args, **kwargs)
        before = _dynamo.eval_frame.set_eval_frame(None)  # Dynamo must not compile the recorder
        try:
            if _is_tracing(args):
                return super().run_backward(*args, **kwargs)
            return self.listener(self.replaced.before.run_backward, args, kwargs)
        finally:
            _dynamo.eval_frame.set_eval_frame(before)


def _is_tracing(args: tuple[Any, ...]) -> bool:
    """Whether a compiler runs the pass, to see what it does. Up to torch 2.12 only its tensors tell."""
    return any(type(one).__name__ == "FunctionalTensor" for one in (args[0] if args else ()))


def uncompiled() -> AbstractContextManager[Any]:
    """Without compiled autograd, which runs a pass as one compiled function: none of its nodes could be watched."""
    module: Any = sys.modules.get("torch._dynamo.compiled_autograd")
    disable = getattr(module, "_disable", None) or getattr(module, "disable", None)  # up to torch 2.5
    return disable() if disable is not None else nullcontext()


class Listening:
    """A context in which every pass goes through `listener`."""

    def __init__(self, listener: Runner) -> None:
        self._listener = listener
        self._replaced = Replaced(Variable, "_execution_engine")

    def __enter__(self) -> None:
        engine = WatchedEngine()
        engine.listener, engine.replaced = self._listener, self._replaced
        self._replaced.put(engine)

    def __exit__(self, *error: object) -> None:
        self._replaced.restore()
