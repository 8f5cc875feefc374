"""Inference mode: like no_grad, but the tensors made inside can never be part of a graph.

Note [Inference tensors]
  A tensor made in inference mode has `INFERENCE` in the place of a version counter. Saving it for backward and writing
  to it outside of inference mode raise InferenceTensorError. Its views are inference tensors that autograd does not
  track: they have no base, and require grad only if told to. A Watcher marks the results of operations; factories and
  comparisons call `mark_if_inference` themselves.
"""

from __future__ import annotations

from typing import Any, TypeVar

from microtape.tape.grad_mode import GradMode, mode
from microtape.tape.node import Node
from microtape.tape.tensor_state import INFERENCE, TensorState
from microtape.tape.watch import Watcher, watch

_T = TypeVar("_T", bound=TensorState)


class _Marker(Watcher):
    """Marks the outputs of operations; a view already has the version of its base."""

    def unrecorded(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """See Watcher."""
        for output in outputs:
            if output.version is None:
                mark_if_inference(output)


inference_marker = _Marker()
"""Joins `watch` once for each thread in inference mode."""


def mark_if_inference(tensor: _T) -> _T:
    """Make `tensor`, a new one, an inference tensor if this thread is in inference mode. Returns it."""
    if mode.inference:
        tensor.version = INFERENCE
    return tensor


class inference_mode(GradMode):  # noqa: N801 - torch's name
    """Operations inside are not recorded, and their results are inference tensors; see Note [Inference tensors].

    A context manager and decorator. `inference_mode(False)` inside it returns to normal mode.
    """

    def __new__(cls, mode: Any = True) -> Any:
        """A context manager; or, as `@inference_mode` without parentheses, the decorated function."""
        instance = super().__new__(cls)
        if not callable(mode):
            return instance
        instance.__init__()  # type: ignore[misc]
        return instance(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode)
        self.mode = mode
        self.outside: list[tuple[bool, bool, bool]] = []

    def fresh(self) -> GradMode:
        """See GradMode."""
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self.outside.append((mode.inference, mode.forward_ad, mode.enabled))
        _set_inference(self.mode)
        mode.forward_ad = not self.mode
        super().__enter__()

    def __exit__(self, *error: Any) -> None:
        if not self.outside and hasattr(self, "left"):
            return  # as in torch, an `__exit__` too many does nothing
        super().__exit__(*error)
        inference, mode.forward_ad, mode.enabled = self.outside.pop()
        _set_inference(inference)


def _set_inference(enabled: bool) -> None:
    """Switch inference mode on this thread on or off."""
    if enabled and not mode.inference:
        watch.join(inference_marker)
    elif mode.inference and not enabled:
        watch.leave(inference_marker)
    mode.inference = enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return mode.inference


def is_inference(tensor: TensorState) -> bool:
    """Whether the tensor, or the base that it is a view of, was made in inference mode."""
    return tensor.version is INFERENCE


__all__ = ["inference_mode", "is_inference", "is_inference_mode_enabled"]
