"""Records of derivatives that were checked: the gradients of a node, and its Jacobians, against finite differences."""

from __future__ import annotations

from typing import NamedTuple

from microtape.recording.model.parts import Value


class FiniteDifferences(NamedTuple):
    """One gradient of a node, compared with finite differences of its forward, which is run again at nearby points."""

    pass_: int  # the pass (its `index`) and the node that was evaluated in it
    node: int
    output: int  # which of the node's gradients: an index into its edges
    elements: tuple[int, ...]  # the elements that were checked, counted along the flattened array
    analytical: Value  # the node's gradient at these elements
    numerical: Value  # the finite differences
    agrees: bool
    problem: str  # why it could not be checked; then `elements` is empty


class JacobianCheck(NamedTuple):
    """The derivatives of one output of a small node by one of its operands, from its backward and from its forward.

    Both Jacobians have a row for each element of the output and a column for each element of the operand, counted along
    the flattened arrays. A row of the analytical one is the gradient that backward sends for an incoming gradient that
    is 1 at this element and 0 elsewhere. For second derivatives, read `gradient` for `output`, for the gradient that
    backward sends along that edge, as a function of the operands.
    """

    pass_: int  # the pass (its `index`) and the node that was evaluated in it
    node: int
    edge: int  # the operand: an index into the node's edges
    output: int  # an index into the node's outputs; with `of_gradient`, into its edges
    analytical: Value
    numerical: Value
    wrong: tuple[int, ...]  # the entries that differ, counted along the flattened Jacobian; the most different first
    of_gradient: bool = False  # of the gradient that leaves along edge number `output`: second derivatives
