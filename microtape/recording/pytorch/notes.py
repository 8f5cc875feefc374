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
from collections.abc import Mapping, Sequence
from itertools import count
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

import torch

from microtape.basics.call_site import CallSite
from microtape.basics.scope import open_scopes
from microtape.recording.model.model import BorderKind, Place, Value
from microtape.recording.pytorch.calls.arguments import constants_of
from microtape.recording.pytorch.calls.function_kinds import word_of

LEAF = 2**64 - 1
"""The sequence number of every AccumulateGrad."""
Version: TypeAlias = "tuple[SeenTensor, int]"
"""A tensor at a version."""
Origin: TypeAlias = "GraphNode | Operation | None"
"""What a tensor came out of: a node, or a border."""
_NO_OUTPUTS: dict[int, Version] = {}  # of most nodes, which share it; never written to


class SeenTensor:
    """A tensor, as far as it is known; an output that the program did not keep has no object."""

    __slots__ = (
        "__weakref__", "_accumulate", "base", "border", "dtype", "earlier", "held", "is_leaf", "latest", "node",
        "object", "output_nr", "read_in", "requires_grad", "shape", "values",
    )  # fmt: skip

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape, self.dtype = shape, dtype
        self.values: dict[int, Value | None] = {}  # version -> value, of this segment; None: nothing to read
        self.earlier: tuple[int, Value | None] | None = None  # of a leaf: what it was in the segment before
        self.latest = 0  # the version when it was last seen
        self.read_in = 0  # the phase in which the newest value was read; see `Tensors`
        self.object: weakref.ref[torch.Tensor] | None = None
        self.base: SeenTensor | None = None
        self.requires_grad = self.is_leaf = False
        self.node: weakref.ref[GraphNode] | None = None  # the node that computed it
        self.output_nr = 0
        self.border: Operation | None = None  # where its history ended, if it came out of a border
        self.held: tuple[weakref.ref[Any], str] | None = None  # the module that had it as a parameter when it was new
        self._accumulate: weakref.ref[GraphNode] | None = None  # of a leaf; the node holds this

    @property
    def tensor(self) -> torch.Tensor | None:
        """The tensor itself, as long as the program keeps it."""
        return self.object() if self.object is not None else None

    @property
    def has_gradients(self) -> bool:
        """Whether a graph that is known has the AccumulateGrad of this leaf."""
        return self._accumulate is not None and self._accumulate() is not None

    def keep_earlier(self) -> None:
        """Nobody has read the leaf in this segment: take it for what it was."""
        if self.earlier is not None:
            version, value = self.earlier
            self.values.setdefault(version, value)
            self.earlier = None

    def accumulated(self) -> GraphNode:
        """What stands for the AccumulateGrad of a leaf."""
        node = self._accumulate() if self._accumulate is not None else None
        if node is None:
            node = GraphNode("AccumulateGrad", LEAF)
            node.outputs[0] = (self, self.latest)
            self._accumulate = weakref.ref(node)
        return node


class GraphNode:
    """What is known of a node of torch's graph: the operation that made it, and the tensors that it computed."""

    __slots__ = (
        "__weakref__", "called", "freed_by", "inner", "inside", "left_hooks", "name", "operation", "outputs",
        "sequence_nr",
    )  # fmt: skip

    def __init__(self, name: str, sequence_nr: int) -> None:
        self.name = name
        self.sequence_nr = sequence_nr
        self.operation: Operation | None = None
        self.outputs: dict[int, Version] = {}  # output -> (tensor, version): what the program was given
        self.inner = _NO_OUTPUTS  # those that another node of the same operation saved
        self.called: Any = None  # its call, if it is to be checked by finite differences
        self.inside: Any = None  # of a custom Function: its contract, and what happened in its forward
        self.left_hooks: tuple[Any, ...] = ()  # those of its tensors that were written to and have other nodes since
        self.freed_by: tuple[int, Place | None] | None = None  # the pass that freed it: its index and its line

    def note_inner(self, output_nr: int, seen: SeenTensor, version: int) -> Version:
        """Note an output that the program was not given."""
        if self.inner is _NO_OUTPUTS:
            self.inner = {}
        found = self.inner[output_nr] = seen, version
        return found


_MOMENTS = count(1)
_NONE: Mapping[str, Any] = {}


def next_moment() -> int:
    """A number that is larger than all earlier ones, to tell what came first."""
    return next(_MOMENTS)


class Write(NamedTuple):
    """The last write into a piece of memory: the call, and when it was."""

    site: CallSite | None
    moment: int


class Operation:
    """A call of torch that computed something with a history, or something whose history ends there."""

    __slots__ = (
        "__weakref__", "_arguments", "_named", "_site", "behind", "crossing", "end", "function", "in_place", "kind",
        "operands", "outputs", "scope", "start", "word_",
    )  # fmt: skip

    def __init__(
        self,
        start: int,
        end: int,
        function: Any,
        site: tuple[CodeType, int] | None,
        operands: Sequence[Version],
        behind: Sequence[Origin],
        arguments: Any,
        named: Mapping[str, Any] = _NONE,
    ) -> None:
        self.start, self.end = start, end  # the sequence numbers that were given out during the call
        self.function, self._site = function, site
        self.operands = operands
        self.behind = behind  # what each operand came out of; held, so that the way back can be told
        self.scope = open_scopes.innermost
        self._arguments = arguments  # in a list, or the texts of those that are no tensors
        self._named = named  # arguments, none of them a tensor
        self.kind: BorderKind | None = None  # of a border
        self.crossing = 0  # of a border: larger than those of all earlier ones
        self.in_place = False
        self.outputs = 1  # how many tensors came out
        self.word_: str | None = None

    def crosses(self, kind: BorderKind) -> None:
        """Note that it is a border, and that it comes after all others."""
        self.kind, self.crossing = kind, next_moment()

    def is_in_call_of(self, other: Operation | None) -> bool:
        """Whether one call of the program's has led to both, and to different functions."""
        return other is not None and self._site == other._site and self.function is not other.function

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
            found = self._arguments = constants_of(self.function, found, self._named)
        return tuple(found)


def origin_of(seen: SeenTensor) -> Origin:
    """What has to be held so that the way back from a tensor can be told: its node or its border."""
    if seen.border is not None:
        return seen.border
    if seen.node is not None:
        return seen.node()
    return seen.accumulated() if seen.is_leaf and seen.requires_grad else None
