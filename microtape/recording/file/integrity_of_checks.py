"""Checks the records of checked derivatives."""

from __future__ import annotations

import math

from microtape.recording.file.json_records import Damaged
from microtape.recording.file.references import MOST, References, all_within, within
from microtape.recording.model.model import FiniteDifferences, JacobianCheck, Recording


def check_checks(recording: Recording) -> None:
    """Raise Damaged if a check is not of a gradient or a Jacobian of the recording, or has other elements."""
    if recording.checks or recording.jacobians:
        _Checks(recording).run()


class _Checks(References):
    def __init__(self, recording: Recording) -> None:
        super().__init__(recording)
        self.checked: set[tuple[int, int, int]] = set()  # the gradients by pass, node and edge
        self.shapes = {
            (one.index, step.node, output): gradient.shape
            for one in recording.passes
            for step in one.steps
            for output, gradient in enumerate(step.grad_inputs)
            if gradient is not None
        }

    def run(self) -> None:
        for number, found in enumerate(self.recording.checks):
            self._gradient(found, f"check {number}")
        for number, jacobian in enumerate(self.recording.jacobians):
            self._jacobian(jacobian, f"Jacobian {number}")

    def _gradient(self, one: FiniteDifferences, where: str) -> None:
        within(one.pass_, MOST, where)
        within(one.node, self.nodes, where)
        within(one.output, self.edges[one.node], where)
        all_within(one.elements, MOST, where)
        key = (one.pass_, one.node, one.output)
        if key in self.checked:
            raise Damaged(f"{where} is of the same gradient as another")
        self.checked.add(key)
        shape = self.shapes.get(key)
        if shape is not None:
            all_within(one.elements, math.prod(shape), where)
        if not one.analytical.shape == one.numerical.shape == (len(one.elements),):
            raise Damaged(f"{where} has different numbers of elements and results")

    def _jacobian(self, one: JacobianCheck, where: str) -> None:
        within(one.pass_, MOST, where)
        within(one.node, self.nodes, where)
        within(one.edge, self.edges[one.node], where)
        outputs = self.edges[one.node] if one.of_gradient else len(self.recording.nodes[one.node].outputs)
        within(one.output, outputs, where)
        shape = one.analytical.shape
        if len(shape) != 2 or one.numerical.shape != shape:
            raise Damaged(f"{where} is not two matrices of one shape")
        all_within(one.wrong, shape[0] * shape[1], where)
