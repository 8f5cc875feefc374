"""The graph that backward walks: nodes joined by edges that lead from results towards the leaves.

Note [Sequence numbers]
  Every node takes the next number of one process-wide counter when it is recorded. A node's edges lead to nodes that
  were recorded earlier, so numbers fall along every edge, and evaluating the ready node with the highest number first
  rewinds the tape. NB: torch has one counter for each thread.

Note [Undefined gradients]
  A gradient of None is undefined: no gradient flows along this edge. Unlike a gradient of zeros it costs nothing and
  leaves `.grad` as it is, but it counts as delivered all the same.

Note [Several outputs]
  The outputs of an operation share one node, and each output has its own `output_nr`. Such a node has `multi_output`
  set, and everything that exists once for each output is a *list*, indexed by `output_nr`: the node's `shape` and
  `dtype`, its buffer in the engine, and the gradient that its `apply` receives, with None for an output whose gradient
  is undefined. A node with one output has the bare value instead, and `type(...) is list` tells the two apart. A tuple
  never means several outputs: it is a shape, or the gradients of several inputs. NB: the node of a custom Function has
  `multi_output` set even if its forward returned one tensor.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from microtape.basics.call_site import CallSite

if TYPE_CHECKING:
    from microtape.basics.dtypes import DType
    from microtape.tape.tensor_state import TensorState

Edge: TypeAlias = "tuple[Node | None, int]"
"""(node, input_nr): the node that receives a gradient, and the index of that gradient among those it receives."""

NO_EDGE: Edge = (None, 0)
"""The edge of a tensor that does not require grad. Compared by identity."""

DEAD_END: Edge = (None, int("0"))  # computed, because Python would merge two equal constants into one object
"""The edge of a tensor that requires grad but whose gradient goes nowhere: a view made without grad mode."""

OWN_DTYPE: Any = object()
"""The value of `grad_dtype` that stands for the leaf's own dtype, the default."""


def receiver_mask(nodes: Sequence[Node | None]) -> tuple[bool, ...]:
    """For each edge, whether it leads to a node: only then its gradient formula runs and needs saved tensors."""
    return tuple([node is not None for node in nodes])


next_sequence_nr = itertools.count().__next__


class NodeHooks:
    """The hooks of one node, made when the first hook is registered."""

    __slots__ = ("post", "post_accumulate", "pre", "retain", "tensor")

    def __init__(self, leaf: NodeHooks | None = None) -> None:
        """`leaf` holds the hooks of a leaf, which outlive its AccumulateGrad nodes: the nodes share its two dicts."""
        self.tensor: dict[int, dict[int, Callable[..., Any]]] = {}  # output_nr -> hooks of that output's tensor
        self.retain: dict[int, weakref.ref[TensorState]] = {}  # output_nr -> the tensor that retains its gradient
        self.pre: dict[int, Callable[..., Any]] = {}
        self.post: dict[int, Callable[..., Any]] = {}
        self.post_accumulate: dict[int, Callable[..., Any]] = {}
        if leaf is not None:
            self.tensor, self.post_accumulate = leaf.tensor, leaf.post_accumulate


class Node:
    """A vertex of the backward graph: computes the gradients of an operation's inputs from those of its outputs."""

    __slots__ = (
        "__weakref__",
        "_metadata",
        "code",
        "dtype",
        "hooks",
        "input_nrs",
        "instruction",
        "next_nodes",
        "saved",
        "sequence_nr",
        "shape",
        "versions",
    )
    kind: ClassVar[str] = "operation"
    formula: ClassVar[str] = ""
    multi_output: ClassVar[bool] = False
    all_or_none: ClassVar[bool] = False  # whether its hooks see the gradients of all inputs if one of them needs it
    hides_none: ClassVar[bool] = False  # whether its hooks see the gradients of all inputs in any case
    renumbered: ClassVar[bool] = False  # on Node itself: whether a user has ever set a sequence number
    saved_names: tuple[str, ...] = ()
    saved_order: ClassVar[tuple[int, ...]] = ()  # in which torch unpacks them; empty: as saved
    sources: tuple[int, ...] = ()  # for each saved tensor, the number of the operand that it is; -1 for anything else

    next_nodes: tuple[Node | None, ...]  # for each input, the node that receives its gradient
    input_nrs: tuple[int, ...]  # and its index there; a separate tuple, because nearly all nodes share it
    sequence_nr: int
    shape: Any  # of the output; a list: Note [Several outputs]
    dtype: Any
    saved: tuple[Any, ...] | None  # None once freed
    versions: tuple[int, ...]  # of the saved tensors; not set if all were at version 0
    code: CodeType | None
    instruction: int
    hooks: NodeHooks | None
    _metadata: dict[Any, Any]  # not set until it is first read

    def __init__(self) -> None:
        self.next_nodes = self.input_nrs = ()
        self.saved = ()
        self.code = None
        self.hooks = None

    def apply(self, gradient: Any, create_graph: bool) -> Sequence[Any]:
        """Compute the gradients of the inputs, one for each edge, from the gradient of the output.

        Gradients are arrays, or Tensors if `create_graph`. `gradient` may be a list: see Note [Several outputs].
        """
        raise NotImplementedError

    def release(self) -> bool:
        """Free the saved tensors. Returns whether there were any."""
        if not self.saved:
            return False
        self.saved = None
        return True

    def output_spec(self, output_nr: int) -> tuple[tuple[int, ...], DType]:
        """The shape and dtype of an output, which are those of its gradient, too."""
        if self.multi_output:
            return self.shape[output_nr], self.dtype[output_nr]
        return self.shape, self.dtype

    def saved_a_result(self, index: int) -> bool:
        """Whether the saved tensor number `index` is an operand that had a grad_fn when it was saved."""
        source = self.sources[index]
        receiver = self.next_nodes[source] if source >= 0 else None
        return receiver is not None and not isinstance(receiver, AccumulateGrad)

    @property
    def output_count(self) -> int:
        """How many outputs the operation has."""
        return len(self.shape) if self.multi_output else 1

    @property
    def call_site(self) -> CallSite | None:
        """Where the user's program called the operation."""
        return CallSite(self.code, self.instruction) if self.code is not None else None

    @property
    def next_edges(self) -> tuple[Edge, ...]:
        """For each input, the edge along which its gradient is delivered."""
        each = zip(self.next_nodes, self.input_nrs, strict=True)
        return tuple([NO_EDGE if node is None else (node, input_nr) for node, input_nr in each])

    @next_edges.setter
    def next_edges(self, edges: Sequence[Edge]) -> None:
        self.next_nodes, self.input_nrs = zip(*edges, strict=True) if edges else ((), ())

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """torch's public view of the edges: a pair (node or None, input_nr) for each differentiable operand."""
        return self.next_edges

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own notes on this node."""
        if not hasattr(self, "_metadata"):
            self._metadata = {}
        return self._metadata

    def name(self) -> str:
        """The node's name as torch shows it."""
        return type(self).__name__

    def ensure_hooks(self) -> NodeHooks:
        """The node's hooks, made if there are none."""
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def register_prehook(self, hook: Callable[[tuple[Any, ...]], Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)`, a tuple of Tensors or None, before the node runs; a returned tuple replaces it.

        Backward raises TypeError or GradientError for a replacement of another type, length, shape or dtype.
        """
        return add_hook(self.ensure_hooks().pre, hook)

    def register_hook(self, hook: Callable[[tuple[Any, ...], tuple[Any, ...]], Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run; a returned tuple replaces `grad_inputs`.

        Backward raises TypeError or GradientError for a replacement of another type, length, shape or dtype.
        """
        return add_hook(self.ensure_hooks().post, hook)

    def __lt__(self, other: Node) -> bool:
        """Whether this node runs before `other`, if both are ready; see Note [Sequence numbers]."""
        return self.sequence_nr > other.sequence_nr

    def __call__(self, *gradients: Any) -> Any:
        """Run this node alone, without hooks: the gradients of its inputs from those of its outputs, all Tensors.

        Raises TypeError for the wrong number of gradients, for an argument that is neither a Tensor nor None, and on
        the node of a custom Function.
        """
        from microtape.backward.introspection import run_node

        return run_node(self, gradients)

    @property
    def _input_metadata(self) -> list[InputMetadata]:
        return [InputMetadata(*self.output_spec(i)) for i in range(self.output_count)]

    def _sequence_nr(self) -> int:
        return self.sequence_nr

    def _set_sequence_nr(self, number: int) -> None:
        if not isinstance(number, int):
            raise TypeError("an integer is required")
        if number < 0:
            raise OverflowError("can't convert negative int to unsigned")
        self.sequence_nr = number
        Node.renumbered = True

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def twin(self) -> Self:
        """A node of the same kind with the same attributes, in no graph."""
        other = object.__new__(type(self))
        names = [name for cls in type(self).__mro__ for name in vars(cls).get("__slots__", ())]
        for name in (*names, *getattr(self, "__dict__", ())):
            if name != "__weakref__" and hasattr(self, name):
                setattr(other, name, getattr(self, name))
        return other

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


class InputMetadata(NamedTuple):
    """The shape, dtype and device that a node expects of the gradient of one of its outputs."""

    shape: tuple[int, ...]
    dtype: DType
    device: str = "cpu"


class AccumulateGrad(Node):
    """The node of a leaf: its incoming gradient is added to the leaf's `.grad`, by `backward.accumulate`."""

    __slots__ = ("variable",)
    kind = "accumulate"
    formula = "x.grad += g"
    sequence_nr = 2**64 - 1  # runs before all others, as soon as it is ready
    next_nodes = input_nrs = saved = ()
    code = None

    def __init__(self, variable: TensorState) -> None:
        self.variable = variable
        meta, array = variable.meta, variable.array
        assert meta is not None
        self.shape = array.shape
        self.dtype = array.dtype if meta.grad_dtype is OWN_DTYPE else meta.grad_dtype
        self.hooks = None if meta.hooks is None else NodeHooks(meta.hooks)

    def name(self) -> str:
        """The node's name as torch shows it."""
        return "torch::autograd::AccumulateGrad"

    def ensure_hooks(self) -> NodeHooks:
        """The node's hooks, made if there are none; the leaf keeps those registered on the leaf."""
        if self.hooks is None:
            meta = self.variable.meta
            assert meta is not None
            if meta.hooks is None:
                meta.hooks = NodeHooks()
            self.hooks = NodeHooks(meta.hooks)
        return self.hooks


class RemovableHandle:
    """A handle that removes a registered hook; `remove()` may be called at any time, also twice or during backward."""

    def __init__(self, hooks: dict[int, Callable[..., Any]], key: int) -> None:
        self._hooks = hooks
        self.id = key

    def remove(self) -> None:
        """Unregister the hook."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


_hook_keys = itertools.count()


def add_hook(hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> RemovableHandle:
    """Register `hook`, to be called after those that are registered already."""
    key = next(_hook_keys)
    hooks[key] = hook
    return RemovableHandle(hooks, key)


def is_array(value: Any) -> bool:
    """Whether `value` is a numpy array, or a scalar as numpy returns it for 0-d results."""
    return isinstance(value, (np.ndarray, np.generic))
