"""What is noted of the tensors, the nodes and the operations of a PyTorch program.

Note [What the recorder of PyTorch holds]
  A `SeenTensor` stands for a tensor and keeps copies of small values of it, and a `GraphNode` stands for a node of the
  graph. The tensor's `SeenTensor` is found by a weak reference; a `GraphNode` lies in the `metadata` of its node, and
  dies with it. So the notes about a graph that the program drops are dropped too. What points backward is strong (a
  node's note to its operands and to the nodes that computed them), what points forward is weak, so that nothing of it
  waits for the garbage collector. A tape holds notes, never tensors or nodes.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from types import CodeType
from typing import Any, TypeAlias

import torch

from microtape.basics.call_site import CallSite
from microtape.basics.scope import open_scopes
from microtape.recording.model.model import BorderKind, Value
from microtape.recording.pytorch.calls.arguments import constants_of
from microtape.recording.pytorch.calls.function_kinds import word_of

LEAF = 2**64 - 1
"""The sequence number of every AccumulateGrad."""
Version: TypeAlias = "tuple[SeenTensor, int]"
"""A tensor at a version."""
Origin: TypeAlias = "GraphNode | Operation | None"
"""What a tensor came out of: a node, or a border."""


class SeenTensor:
    """A tensor, as far as it is known; an output that the program did not keep has no object."""

    object: weakref.ref[torch.Tensor] | None = None  # defaults of the class: most are made for every operation
    requires_grad = False
    is_leaf = False
    latest = 0  # the version when it was last seen
    base: SeenTensor | None = None
    node: weakref.ref[GraphNode] | None = None  # the node that computed it
    output_nr = 0
    border: Operation | None = None  # where its history ended, if it came out of a border
    accumulate: GraphNode | None = None  # of a leaf

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape, self.dtype = shape, dtype
        self.values: dict[int, Value | None] = {}  # version -> value, of this segment; None: nothing to read

    @property
    def tensor(self) -> torch.Tensor | None:
        """The tensor itself, as long as the program keeps it."""
        return self.object() if self.object is not None else None

    def accumulated(self) -> GraphNode:
        """What stands for the AccumulateGrad of a leaf."""
        if self.accumulate is None:
            self.accumulate = GraphNode("AccumulateGrad", LEAF)
            self.accumulate.outputs[0] = (self, self.latest)
        return self.accumulate


class GraphNode:
    """What is known of a node of torch's graph: the operation that made it, and the tensors that it computed."""

    operation: Operation | None = None
    called: Any = None  # its call, if it is to be checked by finite differences
    inside: Any = None  # of a custom Function: its contract, and what happened in its forward

    def __init__(self, name: str, sequence_nr: int) -> None:
        self.name = name
        self.sequence_nr = sequence_nr
        self.reference = weakref.ref(self)  # for what the node has computed: it does not keep the node's note
        self.outputs: dict[int, tuple[SeenTensor, int]] = {}  # output -> (tensor, version): what the program was given
        self.inner: dict[int, tuple[SeenTensor, int]] = {}  # those that another node of the same operation saved


class Operation:
    """A call of torch that computed something with a history, or something whose history ends there."""

    kind: BorderKind | None = None  # of a border
    in_place = False
    outputs = 1  # how many tensors came out
    word_: str | None = None

    def __init__(
        self,
        start: int,
        end: int,
        function: Any,
        site: tuple[CodeType, int] | None,
        operands: Sequence[Version],
        behind: Sequence[Origin],
        arguments: Any,
    ) -> None:
        self.start, self.end = start, end  # the sequence numbers that were given out during the call
        self.function, self._site = function, site
        self.operands = operands
        self.behind = behind  # what each operand came out of; held, so that the way back can be told
        self.scope = open_scopes.innermost
        self._arguments = arguments  # those that are no tensors, or their texts

    @property
    def word(self) -> str:
        """The name of the function, in short."""
        return self.word_ or word_of(self.function)

    @property
    def site(self) -> CallSite | None:
        """The call outside of torch."""
        return CallSite(*self._site) if self._site is not None else None

    @property
    def constants(self) -> tuple[str, ...]:
        """The texts of the arguments that are no tensors."""
        found = self._arguments
        if type(found) is list:
            found = self._arguments = constants_of(self.function, found, {})
        return tuple(found)


def origin_of(seen: SeenTensor) -> Origin:
    """What has to be held so that the way back from a tensor can be told: its node or its border."""
    if seen.border is not None:
        return seen.border
    if seen.node is not None:
        return seen.node()
    return seen.accumulated() if seen.is_leaf and seen.requires_grad else None
