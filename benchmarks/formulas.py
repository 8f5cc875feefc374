"""microtape without the tape: only the calls of a program's forward functions and backward formulas, in sequence.

microtape's time over that of these calls is the cost of the tape. Their time over the floor's is the cost of computing
one operation at a time, in any engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.engines import Engine, MissingError, Torch
from benchmarks.workloads import Run, Workload
from microtape.tape.tensor_state import as_number
from microtape.tape.watch import Watcher, watch


class Calls(Watcher):
    """Logs the calls of forward functions and backward formulas, with their arrays."""

    def __init__(self) -> None:
        self.calls: list[tuple[Callable[..., Any], Sequence[Any]]] = []
        self.saved: list[tuple[Any, Any]] = []

    def operation(self, node: Any, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """See Watcher."""
        if not node.multi_output:  # several views of one array: nothing is computed
            self.calls.append((node.forward, [as_number(array) for array in node.arrays(operands)]))

    def unrecorded(self, node: Any, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """See Watcher."""
        self.operation(node, operands, outputs, in_place)

    def node_started(self, task: Any, node: Any, gradient: Any) -> None:
        """See Watcher. In a pass that is itself recorded, the operations of the formulas are logged one by one."""
        if node.kind == "operation" and not task.as_tensors:
            arrived = gradient if node.multi_output else as_number(np.array(gradient))
            self.calls.append((node.apply, (arrived, False)))
            self.saved.append((node, node.saved))


class Formulas(Engine):
    """Forward functions and backward formulas alone: no tensors, no nodes, no order, no accumulation of gradients."""

    name = "formulas"
    version = ""

    def prepare(self, workload: Workload) -> Run:
        """See Engine."""
        if workload.operations > 10_000:
            raise MissingError("too many calls to keep")
        run = Torch("microtape").prepare(workload)
        calls = Calls()
        watch.join(calls)
        try:
            gradients = run()
        finally:
            watch.leave(calls)
        for node, saved in calls.saved:
            node.saved = saved  # freed by the pass

        def replay() -> Sequence[Any]:
            with np.errstate(all="ignore"):
                for function, arguments in calls.calls:
                    function(*arguments)
            return gradients

        return replay
