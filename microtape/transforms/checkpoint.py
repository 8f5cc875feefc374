"""Checkpointing: save only the inputs of a function, and run it again when backward needs its saved tensors.

See Note [Recomputation] and Note [Nested checkpoints].
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from microtape.basics import devices
from microtape.basics.call_site import user_stacklevel
from microtape.errors import CheckpointError
from microtape.tape.grad_mode import is_grad_enabled
from microtape.transforms.checkpoint_debug import OperationLog
from microtape.transforms.checkpoint_recompute import CheckpointedCall, Placeholder, Recipe
from microtape.transforms.checkpoint_reentrant import CheckpointFunction
from microtape.transforms.saved_hooks import saved_tensors_hooks

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

MISSING_CHOICE = (
    "microtape.utils.checkpoint{which}: the use_reentrant parameter should be passed explicitly. {when} "
    "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
    "use_reentrant=True. Refer to docs for more details on the differences between the two variants."
)


def _described(tensor: Any) -> str:
    """The metadata that a recomputed tensor must have too, as torch writes it."""
    return f"{{'shape': {tensor.shape}, 'dtype': microtape.{tensor.dtype.name}, 'device': {devices.CPU!r}}}"


CHECKS: dict[str, Callable[[Any], Any]] = {
    "default": _described,
    "none": lambda tensor: None,
}


class _Options:
    """The two global switches; None: each checkpoint's own argument decides."""

    early_stop: bool | None = None
    debug: bool | None = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """A context that overrides the `early_stop` of every checkpoint made inside it."""
    before, _Options.early_stop = _Options.early_stop, enable
    try:
        yield
    finally:
        _Options.early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """A context that overrides the `debug` of every checkpoint made inside it; None overrides nothing."""
    before, _Options.debug = _Options.debug, enabled
    try:
        yield
    finally:
        _Options.debug = before


def noop_context_fn() -> Contexts:
    """The default `context_fn` of a checkpoint: two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`; only `args` are saved, and backward runs it again. See Note [Recomputation].

    Arguments and results may have any structure, shape and dtype. `context_fn` returns two contexts, for the first run
    and for the recomputation. Every run starts from the random state of the first, unless `preserve_rng_state` is
    False. `early_stop` ends the recomputation at the last tensor that is needed.

    The runs must save equally many tensors, of equal shapes and dtypes unless `determinism_check` is "none"; `debug`
    logs the operations of both to report where they differ. `use_reentrant=True` selects the older form, which runs
    a whole backward inside of backward: it differentiates only tensors among `args`, and does not work with `grad()`.

    Raises ValueError for options that cannot be combined; CheckpointError, in backward, if the runs differ.
    """
    if use_reentrant is None:
        when = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
        warnings.warn(MISSING_CHOICE.format(which="", when=when), UserWarning, stacklevel=user_stacklevel())
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in CHECKS:
        raise ValueError(f"determinism_check should be one of {list(CHECKS)}, but got {determinism_check}")
    logs = None
    if debug if _Options.debug is None else _Options.debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        logs = OperationLog(), OperationLog()
    first, again = logs or context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    call = CheckpointedCall(
        Recipe(function, kwargs, again, preserve_rng_state),
        args,
        early_stop if _Options.early_stop is None else _Options.early_stop,
        CHECKS[determinism_check],
        logs,
    )
    returned = False
    with saved_tensors_hooks(call.pack, Placeholder.unpack), first:
        result = function(*args, **kwargs)
        returned = True
    if not returned:
        raise RuntimeError(
            "microtape.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised "
            "during the checkpointed forward. This is not supported because checkpoint cannot return a value for a "
            "failed forward."
        )
    call.forward_completed = True
    return result


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, preserve_rng_state: bool = True
) -> Any:
    """Call `functions` in sequence, each on the result of the one before, in `segments` checkpointed groups.

    The last group is not checkpointed: backward would recompute it at once. For the other arguments and the errors see
    `checkpoint`.
    """
    if use_reentrant is None:
        when = "In version 2.9 we will raise an exception if use_reentrant is not passed."
        message = MISSING_CHOICE.format(which=".checkpoint_sequential", when=when)
        warnings.warn(message, UserWarning, stacklevel=user_stacklevel())
        use_reentrant = True
    functions = list(functions)
    size = len(functions) // segments

    def run(segment: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
        def forward(value: Any) -> Any:
            for function in segment:
                value = function(value)
            return value

        return forward

    last = size * (segments - 1)
    for start in range(0, last, size):
        segment = run(functions[start : start + size])
        input = checkpoint(segment, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return run(functions[last:])(input)


__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "checkpoint",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]
