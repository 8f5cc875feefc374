"""Checks gradients of microtape's own engine by finite differences while a program is recorded."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from microtape.functions.function_node import FunctionNode
from microtape.random import default_generator
from microtape.recording.checking.checker import Called, Checker, Evaluated
from microtape.recording.checking.node_again import FunctionAgain, OperationAgain, operation_backward
from microtape.recording.checking.quotients import Arrays, Backward, precision
from microtape.recording.model.model import BackwardStep
from microtape.recording.model.options import Check
from microtape.tape.node import Node
from microtape.tape.operation import Operation
from microtape.tape.tensor_state import TensorState
from microtape.tape.watch import watch


class GradientChecker(Checker):
    """Remembers the forward call of each node, and checks the gradients when the node is evaluated."""

    def __init__(self, check: Check, known: GradientChecker | None, is_installed: Callable[[str], bool]) -> None:
        """`known` is the checker of the segment before: a node may be evaluated in another segment than recorded."""
        super().__init__(check, known, is_installed)
        self._calls: WeakKeyDictionary[Node, Called | str]  # a text says why the forward cannot run again
        self._calls = WeakKeyDictionary() if known is None else known._calls
        self._arguments: WeakKeyDictionary[Node, Arrays] = WeakKeyDictionary()  # of Functions that are being called
        self._backwards: WeakKeyDictionary[Node, Backward] = WeakKeyDictionary()  # of operations that are running

    def calling(self, node: Node, args: Sequence[Any]) -> None:
        """Keep the arguments of a Function whose forward, which may write to them, is about to run."""
        is_wanted = isinstance(node, FunctionNode) and self.remembers(node.function)
        if is_wanted and any(one is not None for one in node.next_nodes):
            self._arguments[node] = _copies(args)

    def remember(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """Note the call of a recorded operation. A built-in one in place cannot run again: its operand is gone."""
        before = self._arguments.pop(node, None)
        if not self.remembers(node.function if isinstance(node, FunctionNode) else None):
            return
        again: FunctionAgain | OperationAgain
        if in_place and before is None:
            self._calls[node] = "it has overwritten its operand, so its forward cannot run again"
            return
        if isinstance(node, FunctionNode):
            again = FunctionAgain(node, operands)
        elif isinstance(node, Operation) and all(isinstance(one, TensorState) for one in operands):
            again = OperationAgain(node)
        else:
            return
        arrays = _copies(operands) if before is None else before
        precisions = [precision(one) if one.dtype.kind == "f" else 0.0 for one in arrays]
        self._calls[node] = Called(again, isinstance(node, FunctionNode), arrays, _copies(outputs), precisions)

    def started(self, node: Node) -> None:
        """Keep what an operation has saved, which may be freed before `check`."""
        call = self._calls.get(node)
        if isinstance(node, Operation) and isinstance(call, Called) and self.may_have_jacobians(call.is_function):
            backward = operation_backward(node, call.arrays)
            if backward is not None:
                self._backwards[node] = backward

    def check(self, node: Node, pass_: int, step: BackwardStep, *, create_graph: bool = False) -> None:
        """Check the gradients of a node that has been evaluated in this step; see `compare`."""
        if not node.next_nodes or not self.wants(pass_, step):
            return
        call, backward = self._calls.pop(node, None), self._backwards.pop(node, None)
        if not isinstance(call, Called):
            if self.only is not None:
                self.cannot(pass_, step, 0, call or "its forward cannot run again by itself")
            return
        if len(call.arrays) != len(step.grad_inputs):
            return
        needed = [receiver is not None for receiver in node.next_nodes]
        outputs = list(enumerate(i for i in range(node.output_count) if node.output_spec(i)[0] is not None))
        hidden = node.without_gradient if isinstance(node, FunctionNode) else ()
        again = call.again
        run = again.backward if isinstance(again, FunctionAgain) else lambda arrays: backward
        evaluated = Evaluated(
            call, pass_, step, step.grad_outputs, step.grad_inputs, range(len(needed)), needed, outputs, hidden, run
        )  # fmt: skip
        self.compare(evaluated, _undisturbed, create_graph=create_graph)


def _copies(values: Sequence[Any]) -> Arrays:
    """Copies of the arrays of the tensors among these."""
    return [np.array(one.array) for one in values if isinstance(one, TensorState)]


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hides everything inside from watchers, and restores the random number generators afterwards."""
    twister, known, numbers = default_generator._twister.state, random.getstate(), np.random.get_state()
    watchers, words = watch.watchers, default_generator.__dict__.copy()
    watch.set(())
    try:
        yield
    finally:
        watch.set(watchers)
        default_generator.__dict__.update(words)
        default_generator._twister.state = twister
        random.setstate(known)
        np.random.set_state(numbers)
