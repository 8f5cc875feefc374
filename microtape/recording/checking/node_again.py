"""A node's forward and backward, to be run again on other arrays: nothing is recorded, and the graph stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.functions.function import Function
from microtape.functions.function_node import FunctionNode
from microtape.recording.checking.quotients import Array, Arrays, Backward, Forward
from microtape.tape.fitting import fit_gradient
from microtape.tape.grad_mode import GradMode
from microtape.tape.node import Node
from microtape.tape.operation import Operation, quiet_context
from microtape.tape.packed_tensor import PackedTensor
from microtape.tape.tensor_state import TensorState, edge_of, is_leaf, new_tensor, requires_grad
from microtape.tensors.differentiate import grad


class FunctionAgain:
    """The call of a custom Function."""

    coarsest = 0.0  # arrays have every dtype

    def __init__(self, node: FunctionNode, operands: Sequence[Any]) -> None:
        """Keep neither the node nor a tensor: both refer to the graph."""
        self.cls: type[Function] = node.function
        self.needs_input_grad, self.is_tensor_input = node.needs_input_grad, node.is_tensor_input
        self.kinds = [type(one) if isinstance(one, TensorState) else None for one in operands]
        self.constants = [None if isinstance(one, TensorState) else one for one in operands]

    @property
    def once_differentiable(self) -> bool:
        """Whether the user has declared that its backward has no derivative."""
        return any(hasattr(one, "once_differentiable") for one in (self.cls.backward, self.cls.vjp))

    def forward(self, arrays: Arrays) -> Arrays:
        """Its outputs that are tensors."""
        again = self.cls.node_class()
        again.is_tensor_input, again.needs_input_grad = self.is_tensor_input, self.needs_input_grad
        sets_up_context = self.cls.setup_context is not Function.setup_context
        arguments = self._arguments(arrays)
        with GradMode(False):
            returned = self.cls.forward(*arguments) if sets_up_context else self.cls.forward(again.ctx, *arguments)
        several = returned if isinstance(returned, tuple) else (returned,)
        return [one.array for one in several if isinstance(one, TensorState)]

    def backward(self, arrays: Arrays) -> Backward:
        """Its backward, after a forward on these arrays."""
        node, _ = self._called(arrays)

        def run(output: int, gradient: Array) -> Sequence[Any]:
            gradients = [gradient if i == output else None for i in range(node.output_count)]
            with GradMode(False):
                return fitted(node, node.apply(node.materialized(gradients, False), False), arrays)

        return run

    def gradients(self, grad_outputs: Sequence[Any]) -> Forward:
        """Its backward for these gradients of the outputs, as a function of the operands: zeros where it gives None."""

        def run(arrays: Arrays) -> Arrays:
            node, _ = self._called(arrays)
            with GradMode(False):
                given = node.apply(node.materialized(_in_dtypes_of(node, grad_outputs), False), False)
            found = fitted(node, given, arrays)
            return [np.zeros_like(array) if one is None else one for one, array in zip(found, arrays, strict=True)]

        return run

    def second_backward(self, arrays: Arrays, grad_outputs: Sequence[Any]) -> Backward:
        """The derivatives of these gradients by the operands, as double backward computes them."""
        node, leaves = self._called(arrays)
        needed = [i for i, leaf in enumerate(leaves) if is_leaf(leaf) and requires_grad(leaf)]
        tensors = [
            None if one is None else new_tensor(node.tensor_type, one) for one in _in_dtypes_of(node, grad_outputs)
        ]
        with GradMode(True):
            given = node.apply(node.materialized(tensors, True), True)
            found = fitted(node, given, arrays, as_tensors=True)

        def run(edge: int, gradient: Array) -> Sequence[Any]:
            derivatives: list[Any] = [None] * len(arrays)
            if found[edge] is not None and requires_grad(found[edge]):
                some = grad(
                    found[edge], [leaves[i] for i in needed], new_tensor(node.tensor_type, gradient),
                    retain_graph=True, allow_unused=True,
                )  # fmt: skip
                for i, one in zip(needed, some, strict=True):
                    derivatives[i] = None if one is None else one.array
            return derivatives

        return run

    def _called(self, arrays: Arrays) -> tuple[FunctionNode, list[Any]]:
        """The node of a new call on these arrays, and the tensors that were made of them."""
        with GradMode(True):
            arguments = self._arguments(arrays)
            given = [
                one.requires_grad_().clone() if needs_gradient else one  # clone: it may write to what is no leaf
                for one, needs_gradient in zip(arguments, self.needs_input_grad, strict=True)
            ]
            returned = self.cls.apply(*given)
        several = returned if isinstance(returned, tuple) else (returned,)
        nodes = [edge_of(one)[0] for one in several if isinstance(one, TensorState)]
        node = next(one for one in nodes if isinstance(one, FunctionNode))
        return node, [one for one in arguments if isinstance(one, TensorState)]

    def _arguments(self, arrays: Arrays) -> list[Any]:
        given = iter(arrays)
        return [
            constant if kind is None else new_tensor(kind, np.array(next(given)))
            for kind, constant in zip(self.kinds, self.constants, strict=True)
        ]


class OperationAgain:
    """The call of a built-in operation."""

    coarsest = 0.0

    def __init__(self, node: Operation) -> None:
        self.node = node.twin()
        self.node.saved, self.node.next_nodes = (), ()  # they refer to the graph

    def forward(self, arrays: Arrays) -> Arrays:
        """Its outputs."""
        result = quiet_context().run(self.node.twin().forward, *arrays)  # a copy: some keep a mask on the node
        return [np.asarray(one) for one in (result if isinstance(result, tuple) else (result,))]


def operation_backward(node: Operation, arrays: Arrays) -> Backward | None:
    """The backward of an operation, on the tensors that it has saved; None if hooks would have to unpack them."""
    if any(type(one) is PackedTensor for one in node.saved or ()):
        return None
    twin = node.twin()  # keeps what it saved when `node` is freed

    def run(output: int, gradient: Array) -> Sequence[Any]:
        several = [gradient if i == output else None for i in range(twin.output_count)]
        with GradMode(False):
            return fitted(twin, twin.apply(several if twin.multi_output else gradient, False), arrays)

    return run


def _in_dtypes_of(node: FunctionNode, grad_outputs: Sequence[Any]) -> list[Any]:
    return [None if one is None else one.astype(node.output_spec(i)[1]) for i, one in enumerate(grad_outputs)]


def fitted(node: Node, gradients: Sequence[Any], arrays: Arrays, *, as_tensors: bool = False) -> Sequence[Any]:
    """A node's gradients in the shapes and dtypes of its operands, as the engine delivers them."""
    every = [
        None if one is None else fit_gradient(node, i, one, array.shape, array.dtype)
        for i, (one, array) in enumerate(zip(gradients, arrays, strict=True))
    ]
    return every if as_tensors else [None if one is None else np.asarray(one) for one in every]
