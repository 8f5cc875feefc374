"""Anomaly mode: backward names the forward operation that an error or a NaN comes from.

The mode is an observer of the engine, and costs nothing while it is off. NB: unlike torch's, every node here knows its
source line even without the mode; the mode adds the whole call stack, and the search for NaN.
"""

from __future__ import annotations

import sys
import warnings
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from microtape.backward.probe import current_node, failed_node
from microtape.basics.call_site import LIBRARY_FILES, user_frame, user_stacklevel
from microtape.basics.fresh_stack import calling_frame
from microtape.errors import NanGradientError
from microtape.tape.node import AccumulateGrad, Node
from microtape.tape.tensor_state import TensorState
from microtape.tape.watch import Watcher, watch

if TYPE_CHECKING:
    from microtape.backward.engine import GraphTask

STACK = "traceback_"
"""Key of `Node.metadata`: the lines of the call stack that recorded the node, as torch keeps them."""
CAUSE = "parent_"
"""Key of `Node.metadata`: the node whose backward recorded this one, as torch calls it."""


class _AnomalyMode(Watcher):
    """The observer: keeps the stacks of recorded operations, looks for NaN, and explains errors."""

    explains = True

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = True

    def set(self, enabled: bool, check_nan: bool) -> None:
        """Turn the mode on or off, for all threads."""
        if enabled and not self.enabled:
            watch.join(self)
        elif self.enabled and not enabled:
            watch.leave(self)
        self.enabled, self.check_nan = enabled, check_nan

    def operation(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """Keep the stack that recorded `node`, and the node whose backward is running, if any."""
        if not node.next_nodes:
            return
        lines = _stack_lines(user_frame(sys._getframe(1)))
        cause = current_node()
        for one in (node, *[one for one in node.next_nodes if isinstance(one, AccumulateGrad)]):
            if STACK not in one.metadata:
                one.metadata[STACK] = lines
                if cause is not None:
                    one.metadata[CAUSE] = cause

    def node_finished(self, task: GraphTask, node: Node, gradients: Any, freed: bool) -> None:
        """Raise NanGradientError if `node` returned a NaN."""
        if not self.check_nan:
            return
        for i, gradient in enumerate(gradients):
            array = gradient.array if isinstance(gradient, TensorState) else gradient
            if array is not None and array.dtype.kind in "fc" and np.isnan(array).any():
                raise NanGradientError(
                    f"Function '{node.name()}' returned nan values in its {i}th output.", ("forward", node.call_site)
                )

    def task_finished(self, task: GraphTask, error: BaseException | None) -> None:
        """Warn of the node that failed: where it was recorded, and which other nodes' backward recorded it."""
        node = failed_node(task, error.__traceback__) if error is not None else None
        if node is None:
            return
        _warn(f"Error detected in {node.name()}. ", "caused the error", node)
        cause = node.metadata.get(CAUSE)
        while cause is not None:
            name = f"\n\nPrevious calculation was induced by {cause.name()}. "
            _warn(name, "induced the previous calculation", cause)
            cause = cause.metadata.get(CAUSE)


def _warn(name: str, role: str, node: Node) -> None:
    """Warn, at the line that called backward, that `node` had this role in the error."""
    lines = node.metadata.get(STACK)
    if lines is not None:
        message = f"{name}Traceback of forward call that {role}:\n{''.join(lines)}"
    else:
        message = (
            f"{name}No forward pass information available. Enable detect anomaly during forward pass for more "
            "information."
        )
        if node.call_site is not None:
            message += f"\n  recorded at {node.call_site.describe()}"
    try:
        warnings.warn(message, UserWarning, stacklevel=user_stacklevel())
    except UserWarning as raised:  # warnings are errors; as in torch, this one must not replace the error of backward
        print(f"{type(raised).__name__}: {raised}", file=sys.stderr)


def _stack_lines(frame: FrameType | None) -> list[str]:
    """The lines of a traceback: the user's frames from the outermost to `frame`."""
    import traceback  # here, as importing it takes long

    entries = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename not in LIBRARY_FILES:
            line, end_line, column, end_column = next(
                islice(code.co_positions(), frame.f_lasti // 2, None), (None, None, None, None)
            )
            entries.append(
                traceback.FrameSummary(
                    code.co_filename,
                    line if line is not None else frame.f_lineno,
                    code.co_name,
                    lookup_line=False,
                    end_lineno=end_line,
                    colno=column,
                    end_colno=end_column,
                )
            )
        frame = calling_frame(frame)
    return traceback.StackSummary.from_list(reversed(entries)).format()


anomaly = _AnomalyMode()


class set_detect_anomaly:  # noqa: N801 - torch's name
    """Turns anomaly mode on or off at once; as a context, restores the former mode at the end.

    While the mode is on, operations keep the call stack that recorded them, and an error in backward is preceded by a
    warning with the stack of the operation that it belongs to. With `check_nan`, backward raises NanGradientError, a
    RuntimeError, for a gradient that contains NaN.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = anomaly.enabled, anomaly.check_nan
        anomaly.set(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        anomaly.set(*self.before)


class detect_anomaly:  # noqa: N801 - torch's name
    """A context with anomaly mode on; see `set_detect_anomaly`. Warns that the mode is slow."""

    def __init__(self, check_nan: bool = True) -> None:
        self.before = anomaly.enabled, anomaly.check_nan
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )

    def __enter__(self) -> None:
        anomaly.set(True, self.check_nan)

    def __exit__(self, *_: object) -> None:
        anomaly.set(*self.before)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN."""
    return anomaly.check_nan


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off; see `set_detect_anomaly`."""
    anomaly.set(mode, check_nan)


__all__ = [
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_anomaly_enabled",
    "set_detect_anomaly",
]
