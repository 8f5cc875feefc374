"""`debug=True` of `checkpoint`: logs of the operations of both runs, to report where they differ."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from microtape.basics.call_site import user_site
from microtape.basics.fresh_stack import stack_ident
from microtape.tape.node import Node
from microtape.tape.tensor_state import TensorState
from microtape.tape.watch import Watcher, watch


class OperationLog(Watcher):
    """A context that logs this thread's operations, each with its shapes and the user's line."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self._thread = 0

    def __enter__(self) -> None:
        self.lines = []
        self._thread = stack_ident()
        watch.join(self)

    def __exit__(self, *_: object) -> None:
        watch.leave(self)

    def operation(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """See Watcher."""
        if stack_ident() != self._thread:
            return
        site = user_site()
        place = site.describe() if site is not None else ""
        results = [_describe(one) for one in outputs if isinstance(one, TensorState)]
        arguments = [_describe(one) for one in operands if isinstance(one, TensorState)]
        self.lines.append((f"{node.name()}({', '.join(arguments)}) -> {', '.join(results)}", place))


def _describe(tensor: TensorState) -> str:
    """`float32[2, 3]`."""
    return f"{tensor.array.dtype.name}{list(tensor.array.shape)}"


def differing_operations(original: OperationLog, recomputed: OperationLog) -> str:
    """A text that lists the operations of both runs and names the first that differs."""
    text = ""
    for label, log in (("the original forward", original), ("the recomputation", recomputed)):
        text += f"\nOperations executed during {label}:\n"
        text += "".join(
            f"  {i + 1} of {len(log.lines)}: {call}\n      at {place}\n" for i, (call, place) in enumerate(log.lines)
        )
    nothing = ("nothing", "")
    for i, (first, again) in enumerate(zip_longest(original.lines, recomputed.lines, fillvalue=nothing)):
        if first[0] != again[0]:
            return f"{text}\nThe first difference is operation {i + 1}: {first[0]} became {again[0]}.\n"
    return f"{text}\nThe recorded operations are the same, but the tensors that they saved differ.\n"
