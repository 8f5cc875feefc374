"""What a recording is: immutable data, and nothing else.

The recorder writes these records while a program runs; the pictures, the stepper and the lessons only read them. Every
record is a named tuple, so that thirty thousand of them are made, stored and loaded quickly. Records refer to each
other by number: a *node id* is an index into `Recording.nodes`, a *tensor id* an index into `Recording.tensors`.

Read from the bottom: a `Recording` has passes, a `Pass` has steps, a `BackwardStep` has deliveries. The smallest
records are in `parts`, those of custom Functions and of other functions of the user in `calls`, those of checked
derivatives in `checks`, those of passes of which only the sizes are kept in `courses`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from microtape.recording.model.calls import ArgumentRecord as ArgumentRecord
from microtape.recording.model.calls import CallRecord as CallRecord
from microtape.recording.model.calls import CallStep as CallStep
from microtape.recording.model.calls import FunctionRecord as FunctionRecord
from microtape.recording.model.calls import OutputRecord as OutputRecord
from microtape.recording.model.calls import Variable as Variable
from microtape.recording.model.checks import FiniteDifferences as FiniteDifferences
from microtape.recording.model.checks import JacobianCheck as JacobianCheck
from microtape.recording.model.courses import CourseRecord as CourseRecord
from microtape.recording.model.courses import ParameterRecord as ParameterRecord
from microtape.recording.model.courses import Statistics as Statistics
from microtape.recording.model.displayed import Displayed
from microtape.recording.model.parts import UNKNOWN as UNKNOWN
from microtape.recording.model.parts import ErrorRecord as ErrorRecord
from microtape.recording.model.parts import Operand as Operand
from microtape.recording.model.parts import Place as Place
from microtape.recording.model.parts import Summary as Summary
from microtape.recording.model.parts import TensorRef as TensorRef
from microtape.recording.model.parts import Value as Value

_MOST_NAME = 60  # characters of a name in a repr


class TensorRecord(NamedTuple):
    """A tensor object, with a value for each version: an in-place write makes a new version."""

    id: int
    names: tuple[str, ...]  # the user's variables that held it ("w", "model.w1"), best name first; may be empty
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    is_leaf: bool
    node: int | None  # the node that computed it (its grad_fn when last seen); for a leaf, its AccumulateGrad
    output_nr: int
    base: int | None  # the tensor it is a view of
    retains_grad: bool
    hooks: tuple[str, ...]  # names of the functions registered on it
    values: Mapping[int, Value]  # version -> value, for the versions that the recorder saw
    grad: Value | None = None  # its .grad when the recording was made; None: it had none

    @property
    def name(self) -> str:
        """The best of the user's names, or an empty string."""
        return self.names[0] if self.names else ""

    def __repr__(self) -> str:
        """`<TensorRecord 3 'loss': scalar float32>`"""
        shape = "×".join(map(str, self.shape)) or "scalar"
        return f"<TensorRecord {self.id} {self.name[:_MOST_NAME]!r}: {shape} {self.dtype}>"


class EdgeRecord(NamedTuple):
    """Where one of a node's gradients goes: the receiving node and which of its inputs. node=None: nowhere."""

    node: int | None
    input_nr: int


class ScopeRecord(NamedTuple):
    """One entry into a part of the program that the user named: `with microtape.scope("encoder"):`."""

    id: int
    name: str
    outer: int | None  # the enclosing scope


class SavedRecord(NamedTuple):
    """A tensor that a node's forward saved for its backward."""

    name: str  # the name in the formula ("x", "z"); a Function's: the user's variable, else "saved_tensors[0]"
    ref: TensorRef  # the tensor and the version that was saved


NodeKind: TypeAlias = Literal["operation", "function", "accumulate", "copy_slices", "error"]


class NodeRecord(NamedTuple):
    """A vertex of the backward graph. Ids rise in the order of recording, which is the *tape*.

    An AccumulateGrad stands right before the first node that uses its leaf.
    """

    id: int
    name: str  # as torch shows it: "MulBackward0", "AccumulateGrad"
    op: str  # a short word: "mul", "matmul"; for a Function its class name; never the leaf's name
    kind: NodeKind
    formula: str  # "z = x · y    ∂z/∂x = y,  ∂z/∂y = x"; may be empty (a Function without one)
    place: Place | None
    sequence_nr: int | None  # counted from the recording's first node; None for AccumulateGrad, which runs before all
    operands: tuple[Operand, ...]
    outputs: tuple[TensorRef | None, ...]  # None: an output that the program did not keep
    edges: tuple[EdgeRecord, ...]
    saved: tuple[SavedRecord, ...]
    variable: int | None  # the leaf, for AccumulateGrad
    in_place: bool  # the operation wrote into its first operand
    pass_: int | None  # the pass during which it was recorded (create_graph), None for the user's own forward
    made_by: int | None  # the node whose backward recorded this one, if any
    hooks: tuple[str, ...]  # names of pre- and post-hooks registered on the node
    scope: int | None = None  # the innermost scope around it

    def __repr__(self) -> str:
        """`<NodeRecord %2 MulBackward0 at line 3>`"""
        place = f" at {self.place.at_line}" if self.place is not None else ""
        return f"<NodeRecord %{self.id} {self.name[:_MOST_NAME]}{place}>"


BorderKind: TypeAlias = Literal[
    "detach", "no_grad", "inference_mode", "not differentiable", "not an argument", "copied", "constant"
]


class BorderRecord(NamedTuple):
    """Where history ends: a result without history, computed from tensors that have one or that lost it earlier.

    `no_grad` and `inference_mode` name what kept the operation off the tape; `not differentiable` is a result such as
    an argmax; `not an argument` is what a Function returned without a node, since none of its arguments has a history,
    though its forward used other tensors that have one; `copied` is a tensor made of a bare value that `op` (item,
    numpy, ...) took out of the graph at `place`; `constant` is computed from the outputs of earlier borders alone, or
    overwrites a constant of the tape.
    """

    kind: BorderKind
    op: str  # "detach", "mul"
    place: Place | None
    operands: tuple[Operand, ...]
    outputs: tuple[TensorRef, ...]  # a value is known unless it was overwritten before anything used it
    in_place: bool  # the operation wrote into its first operand
    tape: int  # how many nodes the tape had then


class SavedUse(NamedTuple):
    """A saved tensor at the moment when backward unpacked it."""

    name: str
    ref: TensorRef
    value: Value | None  # as unpacked; None where unpacking failed
    version_now: int  # differs from ref.version if an in-place operation came in between


class Delivery(NamedTuple):
    """A gradient that travelled along one edge into an input buffer, and the sum there before and after.

    `term` is None where the gradient was undefined: nothing is added, but the receiver's dependency count still falls.
    """

    output: int  # which of the sender's gradients: an index into its edges
    node: int  # the receiver
    input_nr: int
    term: Value | None
    before: Value | None  # the sum before; None: nothing had arrived yet
    total: Value | None
    dependencies_left: int  # of the receiver, after this delivery; at 0 the receiver is ready


class HookCall(NamedTuple):
    """A hook that ran during a step, with the gradient before and after it."""

    kind: str  # "tensor", "retain_grad", "node pre", "node post", "post accumulate"
    name: str
    before: Value | None
    after: Value | None


FAULT = "not recorded:"
"""How a note begins that says what is missing by a fault of the recorder."""
CUT_SHORT = "RecordingError"
"""The type of the error of a pass whose recording ends too early, by a fault of the recorder: the program went on."""


class BackwardStep(NamedTuple):
    """One evaluated node."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which is not needed here
    node: int
    grad_outputs: tuple[Value | None, ...]  # what arrived, one for each output of the node, after pre-hooks
    saved: tuple[SavedUse, ...]
    grad_inputs: tuple[Value | None, ...]  # what left, one for each edge, after post-hooks and un-broadcasting
    deliveries: tuple[Delivery, ...]
    grad_before: Value | None  # for AccumulateGrad: the leaf's .grad before and after
    grad_after: Value | None
    freed: bool  # its saved tensors were freed afterwards
    hooks: tuple[HookCall, ...]
    made: tuple[int, ...]  # the nodes that this step recorded (create_graph)
    error: ErrorRecord | None


class Capture(NamedTuple):
    """A gradient that `grad()` or `backward(inputs=)` asked for."""

    tensor: int
    value: Value | None  # None: the tensor is not in the graph, or the pass failed before reaching it


class FreedRecord(NamedTuple):
    """A node whose saved tensors were freed by a pass that was recorded apart from it, and perhaps not kept."""

    node: int
    pass_: int  # the pass (its `index`), and the line that called it
    place: Place | None


class UpdateRecord(NamedTuple):
    """Writes to a leaf outside of backward, between two passes: a step of an optimiser, or an update by hand."""

    tensor: int
    place: Place | None  # of the first write; None where the leaf was given other memory (`w.data = ...`)
    passes: int  # how many passes had begun before
    norm: float | None  # of the leaf before the first write; None: not finite, or not read
    change: float | None  # the norm of the difference; None: not finite, undone by other writes, or the shape changed
    again: Place | None = None  # the last step that used its gradient as a step before had done, with no pass between
    is_counted: bool | None = None  # whether the leaf's version has risen; None: unchanged, or a file of an old format


class AliasUseRecord(NamedTuple):
    """A use of a tensor that shares the memory of a leaf (`w.detach()`, `w.data`), which was written to meanwhile."""

    tensor: int  # the leaf
    op: str  # what uses it: "equal", "copy_", "load_state_dict"
    place: Place | None
    made: Place | None  # where the alias was made; None if it is the leaf itself, under two names
    written: Place | None  # one of the writes in between
    is_with_itself: bool  # whether `op` compares it with the same memory, or copies it there


class Pass(NamedTuple):
    """One call of `backward` or `grad`."""

    index: int  # type: ignore[assignment]
    kind: Literal["backward", "grad"]
    place: Place | None
    roots: tuple[EdgeRecord, ...]
    root_tensors: tuple[TensorRef | None, ...]
    seeds: tuple[Value | None, ...]  # the first gradients, one for each root
    retain_graph: bool
    create_graph: bool
    captures: tuple[Capture, ...]  # for grad() and inputs=; empty otherwise
    tape: int  # how many nodes the tape had when the pass began: forward steps are nodes[:tape]
    nodes: tuple[int, ...]  # the nodes that it evaluates, in tape order
    dependencies: Mapping[int, int]  # node -> how many deliveries it waits for when the pass begins
    ready: tuple[int, ...]  # the ready queue when the pass begins, next node first; for later ones see `ready_queues`
    grads: Mapping[int, Value]  # tensor id -> its .grad when the pass began, if it had one
    steps: tuple[BackwardStep, ...]
    error: ErrorRecord | None

    @property
    def is_complete(self) -> bool:
        """Whether the pass ran to its end, and was recorded to its end."""
        return self.error is None

    @property
    def has_failed(self) -> bool:
        """Whether the program's pass failed, rather than its recording."""
        return self.error is not None and self.error.type != CUT_SHORT

    @property
    def is_cut_short(self) -> bool:
        """Whether its recording ends too early, by a fault of the recorder."""
        return self.error is not None and self.error.type == CUT_SHORT

    def __repr__(self) -> str:
        """`<Pass 1: backward() at line 5, 17 steps>`"""
        place = f" at {self.place.at_line}" if self.place is not None else ""
        failed = ", failed" if self.has_failed else ""
        return f"<Pass {self.index + 1}: {self.kind}(){place}, {_count(len(self.steps), 'step')}{failed}>"


def _count(number: int, what: str) -> str:
    plural = what + ("es" if what.endswith("s") else "s")
    return f"{number} {what if number == 1 else plural}"


@dataclass(frozen=True, repr=False)
class Recording(Displayed):
    """A program's tape and its backward passes. Equal programs give equal recordings."""

    title: str  # the script's name, or "record()"
    nodes: tuple[NodeRecord, ...]
    tensors: tuple[TensorRecord, ...]
    passes: tuple[Pass, ...]
    sources: Mapping[str, str]  # path (relative to the script) -> the file's text
    error: ErrorRecord | None = None  # an exception that the program raised outside of a pass
    notes: tuple[str, ...] = ()  # what was left out, and which option keeps it
    options: Mapping[str, object] = field(default_factory=dict)
    scopes: tuple[ScopeRecord, ...] = ()  # in the order in which they were entered
    borders: tuple[BorderRecord, ...] = ()  # in order of time; only those that led to a recorded or named tensor
    checks: tuple[FiniteDifferences, ...] = ()  # if the recorder was asked to check
    updates: tuple[UpdateRecord, ...] = ()  # of leaves that a pass has reached, in order of time
    freed: tuple[int, ...] = ()  # nodes whose saved tensors were already freed when the recorder first saw them
    freed_by: tuple[FreedRecord, ...] = ()  # what freed nodes, where no step of `passes` says so
    functions: tuple[FunctionRecord, ...] = ()  # the calls of custom Functions that were recorded, in tape order
    calls: tuple[CallRecord, ...] = ()  # the user's functions that ran inside of the engine's, in order of time
    jacobians: tuple[JacobianCheck, ...] = ()  # of small nodes, if the recorder was asked to check
    alias_uses: tuple[AliasUseRecord, ...] = ()  # in order of time
    courses: tuple[CourseRecord, ...] = ()  # of each hundredth pass or so, in order of time

    def __repr__(self) -> str:
        """`<Recording of 'mlp.py': 17 nodes, 1 pass, 17 steps>`"""
        steps = sum(len(one.steps) for one in self.passes)
        parts = [_count(len(self.nodes), "node"), _count(len(self.passes), "pass"), _count(steps, "step")]
        return f"<Recording of {self.title[:_MOST_NAME]!r}: {', '.join(parts)}>"

    @property
    def faults(self) -> tuple[str, ...]:
        """The notes about what is missing by a fault of the recorder."""
        return tuple(note for note in self.notes if note.startswith(FAULT))

    def value(self, ref: TensorRef | None) -> Value | None:
        """The tensor's value at that version; None if it was not recorded."""
        return None if ref is None else self.tensors[ref.tensor].values.get(ref.version)

    def label(self, node_id: int) -> str:
        """The name of a node in a sentence: the leaf's name, the user's name for its output, else `%id`."""
        node = self.nodes[node_id]
        if node.variable is not None:
            return self.tensors[node.variable].name or f"%{node_id}"
        names = [self.tensors[ref.tensor].name for ref in node.outputs if ref is not None]
        return ", ".join(name for name in names if name) or f"%{node_id}"

    def save(self, path: str | os.PathLike[str], **budgets: int) -> None:
        """Write this recording to a `.tape` file; see `save` in `recording/file/tape_file.py`."""
        from microtape.recording.file.tape_file import save  # which needs this module

        save(self, path, **budgets)

    @staticmethod
    def load(path: str | os.PathLike[str], *, size_limit: int | None = None) -> Recording:
        """Read a recording from a `.tape` file. Raises RecordingError if it is none; see `load` in the same file."""
        from microtape.recording.file.tape_file import SIZE_LIMIT, load

        return load(path, size_limit=SIZE_LIMIT if size_limit is None else size_limit)

    def steps(self) -> Iterator[tuple[Pass, BackwardStep]]:
        """Every backward step of every pass, in the order in which they ran."""
        return ((one, step) for one in self.passes for step in one.steps)
