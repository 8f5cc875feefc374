"""The look-ups over a recording that the findings share, with the user's names for nodes and tensors."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from microtape.recording.findings.makers import made_at
from microtape.recording.findings.names import Names
from microtape.recording.findings.returns import Returned, function_returns
from microtape.recording.findings.sizes import Sizes
from microtape.recording.model.cut_history import borders_by_output, used_in_forwards
from microtape.recording.model.formula_names import symbol_values
from microtape.recording.model.model import (
    BackwardStep,
    BorderRecord,
    CallRecord,
    CallStep,
    NodeRecord,
    Operand,
    Pass,
    Place,
    TensorRecord,
    TensorRef,
    UpdateRecord,
    Value,
)
from microtape.recording.model.source import is_installed, tree_of, whole_lines
from microtape.recording.moments.steps_by_node import steps_by_node
from microtape.recording.moments.uses import Uses
from microtape.recording.tables.columns import NONE, Table
from microtape.recording.tables.fields import field, integers, numbered, picked, truths
from microtape.recording.tables.ids import between, small

if TYPE_CHECKING:
    import numpy.typing as npt


_ASSIGNS_GRADIENT = re.compile(
    r"\._?grad(\.data)?\s*([-+*/]=|=(?!=|\s*None\b)|\.(copy_|add_|lerp_)\()|setattr\([^)]*\b_?grad\b|=\s*\w+\.grad\.data\b"
)
_UNFINISHED = "Expected to have finished reduction in the prior iteration"
"""How DistributedDataParallel says that parameters were not used."""


class Program(Names):
    """A recorded program, as the findings ask about it."""

    @cached_property
    def sizes(self) -> Sizes:
        """How large every value and gradient is."""
        return Sizes(self.recording)

    def users(self, node: int | None, since: int = 0) -> Sequence[int]:
        """The nodes, from one on, that used a node's outputs, in tape order."""
        return self.uses.of_node(node, since) if node is not None else ()

    @cached_property
    def uses(self) -> Uses:
        """Which node uses what: a line for each edge, in tape order."""
        return Uses.of(self.recording.nodes, range(len(self.recording.nodes)))

    @cached_property
    def readers(self) -> Mapping[int, Sequence[int]]:
        """Maps a tensor to the nodes that had it as an operand, in tape order."""
        found: dict[int, list[int]] = {}
        for node in self.recording.nodes:
            for operand in node.operands:
                if operand.ref is not None:
                    found.setdefault(operand.ref.tensor, []).append(node.id)
        return found

    @cached_property
    def writers(self) -> Mapping[int, Sequence[int]]:
        """Maps a tensor to the nodes that wrote into it in place, in tape order."""
        found: dict[int, list[int]] = {}
        for node in self.recording.nodes:
            if node.in_place and node.outputs and (ref := node.outputs[0]) is not None:
                found.setdefault(ref.tensor, []).append(node.id)
        return found

    @cached_property
    def view_makers(self) -> Mapping[int, Sequence[int]]:
        """Maps a tensor to the nodes that made views of it, in tape order."""
        found: dict[int, list[int]] = {}
        for node in self.recording.nodes:
            for ref in node.outputs:
                base = self.recording.tensors[ref.tensor].base if ref is not None else None
                if base is not None:
                    found.setdefault(base, []).append(node.id)
        return found

    @cached_property
    def borders_from(self) -> Mapping[int, Sequence[BorderRecord]]:
        """Maps a tensor to the borders that it is an operand of, in order of time."""
        found: dict[int, list[BorderRecord]] = {}
        for border in self.recording.borders:
            for operand in border.operands:
                if operand.ref is not None:
                    found.setdefault(operand.ref.tensor, []).append(border)
        return found

    @cached_property
    def made_without_history(self) -> Mapping[int, BorderRecord]:
        """Maps a tensor to the border that it came out of."""
        return {ref.tensor: border for ref, border in self.borders.items()}

    @cached_property
    def inside_forwards(self) -> Mapping[int, tuple[CallRecord, CallStep]]:
        """See `used_in_forwards`."""
        return used_in_forwards(self.recording)

    @cached_property
    def steps(self) -> Sequence[Mapping[int, BackwardStep]]:
        """For each pass: maps a node to its step."""
        return [steps_by_node(pass_.steps) for pass_ in self.recording.passes]

    @cached_property
    def positions(self) -> Mapping[int, int]:
        """Maps the index of a pass in the program to its position in the recording."""
        return {one.index: position for position, one in enumerate(self.recording.passes)}

    def steps_of(self, node: int | None) -> Iterator[tuple[int, BackwardStep]]:
        """A node's steps, each with the position of its pass."""
        nodes, positions = self._evaluated
        for position in positions[between(nodes, node, node + 1)].tolist() if node is not None else ():
            if (step := self.steps[position].get(node)) is not None:  # a pass that fails evaluates some only
                yield position, step

    @cached_property
    def _evaluated(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The nodes of all passes in ascending order, and the positions of their passes."""
        by_pass = [np.asarray(one.nodes, np.int64) for one in self.recording.passes]
        positions = np.repeat(np.arange(len(by_pass)), list(map(len, by_pass)))
        nodes = np.concatenate([np.zeros(0, np.int64), *by_pass])
        order = np.argsort(nodes, kind="stable")
        return small(nodes[order]), small(positions[order])

    @cached_property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """For each node, whether it is that of a leaf."""
        found: npt.NDArray[np.bool_] = integers(self.recording.nodes, "variable") != NONE
        return found

    def leaf_steps(self, pass_: Pass) -> Sequence[BackwardStep]:
        """The steps of a pass that evaluate leaves."""
        steps, is_leaf = pass_.steps, self.is_leaf
        if isinstance(steps, Table):
            return picked(steps, np.flatnonzero(is_leaf[integers(steps, "node")]))
        return [step for step in steps if is_leaf[step.node]]

    @cached_property
    def accumulations(self) -> Mapping[int, Sequence[tuple[int, BackwardStep]]]:
        """For each leaf, its steps that have changed .grad, each with the position of its pass."""
        found: dict[int, list[tuple[int, BackwardStep]]] = {}
        for position, pass_ in enumerate(self.recording.passes):
            for step in self.leaf_steps(pass_):
                leaf = self.node(step.node).variable
                if leaf is not None and step.grad_after is not None:
                    found.setdefault(leaf, []).append((position, step))
        return found

    @cached_property
    def leaves(self) -> Sequence[TensorRecord]:
        """The leaves that require grad."""
        tensors = self.recording.tensors
        return list(picked(tensors, np.flatnonzero(truths(tensors, "is_leaf") & truths(tensors, "requires_grad"))))

    @cached_property
    def used_leaves(self) -> Sequence[str]:
        """The names of the leaves that got a gradient, or need none."""
        leaves = picked(self.recording.tensors, np.flatnonzero(truths(self.recording.tensors, "is_leaf")))
        got = (one for one in leaves if not one.requires_grad or one.grad is not None or one.id in self.accumulations)
        return [name for one in got for name in one.names]

    @cached_property
    def updated(self) -> Mapping[int, Sequence[UpdateRecord]]:
        """Maps a leaf to its updates: what its gradient is for."""
        found: dict[int, list[UpdateRecord]] = {}
        for one in self.recording.updates:
            found.setdefault(one.tensor, []).append(one)
        return found

    @cached_property
    def named_parts(self) -> Mapping[str, Sequence[int]]:
        """Maps a name such as `weights[0]` to the nodes whose results have it."""
        tensors = self.recording.tensors
        found: dict[str, list[int]] = {}
        for names, node in zip(field(tensors, "names"), field(tensors, "node"), strict=True):
            for name in names:
                if node is not None and not name.isidentifier():
                    found.setdefault(name, []).append(node)
        return found

    @cached_property
    def place_numbers(self) -> Sequence[int]:
        """A number for the place of each node."""
        return numbered(field(self.recording.nodes, "place"))

    @cached_property
    def asked(self) -> frozenset[int]:
        """The tensors whose gradients `grad` or `inputs=` asked for, and the nameless leaves of which one is made.

        Such a leaf is `tensor(x, requires_grad=True)` in `tensor(x, requires_grad=True).float()`.
        """
        asked = {one.tensor for pass_ in self.recording.passes for one in pass_.captures}
        for leaf in self.leaves if asked else ():
            users = self.users(leaf.node) if not leaf.name else ()
            if len(users) == 1 and any(ref.tensor in asked for ref in self.node(users[0]).outputs if ref is not None):
                asked.add(leaf.id)
        return frozenset(asked)

    @cached_property
    def borders(self) -> Mapping[TensorRef, BorderRecord]:
        """Maps a tensor at a version to the border whose output it is."""
        return borders_by_output(self.recording)

    @cached_property
    def returned(self) -> Sequence[Returned]:
        """What the Functions' backward returned, in order of time."""
        return function_returns(self.recording)

    @cached_property
    def return_places(self) -> Mapping[int, Place | None]:
        """Maps the node of a Function to the line where its backward returned, the last time."""
        return {one.step.node: one.place for one in self.returned}

    @cached_property
    def trees(self) -> Sequence[tuple[str, ast.Module]]:
        """The syntax trees of the recorded source files, by name; a file that is no Python is left out."""
        return [(file, tree) for file, text in self.recording.sources.items() if (tree := tree_of(text)) is not None]

    @cached_property
    def assigns_gradients(self) -> bool:
        """Whether the program writes to a .grad itself, as `p.grad = q.grad` does: a leaf may learn without a pass."""
        return any(_ASSIGNS_GRADIENT.search(text) for text in self.recording.sources.values())

    @cached_property
    def files_with_passes(self) -> Sequence[str]:
        """The user's files that call backward, or `grad`, as far as their text was recorded."""
        places = [one.place for one in self.recording.passes]
        files = dict.fromkeys(one.file for one in places if one is not None and not is_installed(one))
        return [one for one in files if one in self.recording.sources]

    def does(self, node: NodeRecord, *ops: str) -> bool:
        """Whether a node does one of these operations: by the name of the function that was called, or by its own."""
        return _does(node.op, node.name, ops)

    def does_op(self, made: NodeRecord | BorderRecord, *ops: str) -> bool:
        """The same for a call that may have no node."""
        return _does(made.op, made.name if isinstance(made, NodeRecord) else "", ops)

    def maker(self, ref: TensorRef) -> NodeRecord | BorderRecord | None:
        """What computed a tensor at a version, with a history or without one."""
        border, producer = self.borders.get(ref), self.producer.get(ref)
        return border if border is not None or producer is None else self.node(producer)

    def doing(self, *ops: str) -> Sequence[NodeRecord]:
        """All nodes that do one of these."""
        kinds = self._kinds
        wanted = [numbers for (op, name), numbers in kinds.items() if _does(op, name, ops)]
        return picked(self.recording.nodes, sorted(chain.from_iterable(wanted))) if wanted else ()

    @cached_property
    def _kinds(self) -> Mapping[tuple[str, str], Sequence[int]]:
        """Maps the op and the name of nodes to their numbers."""
        nodes, found = self.recording.nodes, defaultdict[tuple[str, str], list[int]](list)
        for number, kind in enumerate(zip(field(nodes, "op"), field(nodes, "name"), strict=True)):
            found[kind].append(number)
        return found

    @cached_property
    def missing_gradient_at(self) -> Place | None:
        """The line where the program failed because a .grad was None, or a reducer waited for it."""
        error = self.recording.error
        place = dict(error.places).get("raised") if error is not None else None
        if error is None or place is None:
            return None
        if _UNFINISHED in error.message:
            return place
        return place if "NoneType" in error.message and "grad" in whole_lines(self.recording, place) else None

    def wants_gradient_of(self, tensor: int) -> bool:
        """Whether the program fails because of this tensor's missing gradient, as far as its line tells."""
        place = self.missing_gradient_at
        if place is None:
            return False
        names = self.recording.tensors[tensor].names
        named = named_before_grad(self, place)
        known = {name for one in self.recording.tensors for name in one.names}
        return any(name in names or name not in known for name in named) or not named

    def pass_after(self, tape: int) -> int | None:
        """The first pass that began when the tape had more nodes than that, else the last one."""
        passes = self.recording.passes
        return next((i for i, one in enumerate(passes) if one.tape > tape), len(passes) - 1 if passes else None)

    def results(self, node: NodeRecord) -> list[Value]:
        """What is known of a node's outputs: nothing, if it is one of several that an operation has made."""
        values = [self.recording.value(ref) for ref in node.outputs if ref is not None]
        return [one for one in values if one is not None]

    def tensor_of(self, node: NodeRecord) -> int | None:
        """The tensor that stands for a node: its leaf, or its first output."""
        if node.variable is not None:
            return node.variable
        return next((ref.tensor for ref in node.outputs if ref is not None), None)

    def shape_of(self, node: NodeRecord) -> tuple[int, ...] | None:
        """The shape of a node's leaf, or of its first output; None if it has neither."""
        tensor = self.tensor_of(node)
        return self.recording.tensors[tensor].shape if tensor is not None else None

    def made_at(self, name: str, part: str = "") -> Place | None:
        """Where a variable is assigned, or a part of a module; see `makers`."""
        return made_at(self.recording, name, part)

    def is_number(self, operand: Operand) -> bool:
        """Whether an operand is a number of the program's; microtape's engine makes a tensor of it."""
        if operand.ref is None:
            return True
        tensor = self.recording.tensors[operand.ref.tensor]
        return tensor.is_leaf and not (tensor.requires_grad or tensor.names or tensor.shape)

    def number(self, operand: Operand) -> float | None:
        """The number that an operand is: as it is written, since a tensor that is made of it may have rounded it."""
        written = self.written.get(operand.ref, "") if operand.ref is not None else operand.text
        number = _number(written.rpartition("=")[2])  # `min=1e-8`
        if number is not None or operand.ref is None or not self.is_number(operand):
            return number
        value = self.recording.value(operand.ref)
        return float(value.item()) if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" else None

    def values(self, node: NodeRecord, step: BackwardStep | None = None) -> Mapping[str, Value | None]:
        """See `symbol_values`."""
        return symbol_values(self.recording, node, step)


def named_before_grad(program: Program, place: Place) -> list[str]:
    """The variables whose .grad a line uses: `h` in `print(h.grad.norm())`."""
    return re.findall(r"([\w.\[\]]+?)\.grad\b", whole_lines(program.recording, place))


def _does(op: str, name: str, ops: Sequence[str]) -> bool:
    return op.rstrip("_") in ops or _own_op(name) in ops


@cache
def _own_op(name: str) -> str:
    """`log_softmax` for `LogSoftmaxBackward0`."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", re.sub(r"Backward\d*$", "", name)).lower()


def operand_refs(made: NodeRecord | BorderRecord) -> list[TensorRef]:
    """The operands of a node, or of a call without history, that are tensors."""
    return [one.ref for one in made.operands if one.ref is not None]


def whole_numbers(made: NodeRecord | BorderRecord) -> list[int]:
    """The whole numbers among the arguments of a call, such as dimensions: those of `dim0=-2` and `(2, 0, 1)`."""
    texts = [re.sub(r"\w+=", "", one.text) for one in made.operands if one.ref is None]
    return [int(number) for text in texts for number in re.findall(r"-?\d+", text)]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
