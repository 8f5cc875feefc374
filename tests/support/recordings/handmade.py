"""Handmade recordings: a pencil-and-paper engine, for tests of viewers of recordings.

`Tape` runs a program and its backward pass without microtape's engine, so that a viewer's test knows every number
beforehand, and a bug in the engine cannot hide a bug in the viewer. It is simple and slow on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from microtape.recording.model.model import (
    CUT_SHORT,
    FAULT,
    BackwardStep,
    Delivery,
    EdgeRecord,
    ErrorRecord,
    NodeRecord,
    Operand,
    Pass,
    Place,
    Recording,
    SavedRecord,
    SavedUse,
    TensorRecord,
    TensorRef,
)

Rule = Callable[[Any], Any]


class Tape:
    """Add a program operation by operation, run backward, then get the recording."""

    def __init__(self, title: str, source: str) -> None:
        self.title = title
        self.source = source
        self.nodes: list[dict[str, Any]] = []
        self.tensors: list[dict[str, Any]] = []
        self.passes: list[Pass] = []
        self.rules: dict[int, Sequence[Rule | None]] = {}
        self.fails: dict[int, ErrorRecord] = {}
        self.grads: dict[int, Any] = {}

    def place(self, expression: str, nth: int = 0) -> Place:
        """The place of the nth occurrence of the expression in the source, counted from 0."""
        offset = -1
        for _ in range(nth + 1):
            offset = self.source.index(expression, offset + 1)
        line = self.source.count("\n", 0, offset) + 1
        column = offset - (self.source.rfind("\n", 0, offset) + 1)
        return Place(self.title, line, line, column, column + len(expression), "<module>")

    def tensor(self, name: str, value: Any, **changes: Any) -> TensorRef:
        """Add a tensor of the user: by default a leaf that requires grad; `changes` are other fields of its record."""
        value = np.asarray(value, np.float64)
        record: dict[str, Any] = {
            "id": len(self.tensors),
            "names": (name,) if name else (),
            "shape": value.shape,
            "dtype": "float64",
            "requires_grad": True,
            "is_leaf": True,
            "node": None,
            "output_nr": 0,
            "base": None,
            "retains_grad": False,
            "hooks": (),
            "values": {0: value},
        }
        self.tensors.append(record | changes)
        return TensorRef(record["id"], 0)

    def op(
        self,
        op: str,
        formula: str,
        operands: Sequence[TensorRef | str],
        value: Any,
        rules: Sequence[Rule | None],
        *,
        name: str = "",
        expression: str = "",
        nth: int = 0,
        saved: Sequence[tuple[str, TensorRef | None]] = (),
        in_place: bool = False,
    ) -> TensorRef:
        """Record an operation; `rules[i]` maps the gradient of the result to that of tensor operand i.

        A saved tensor given as None is the result itself.
        """
        refs = [ref for ref in operands if isinstance(ref, TensorRef)]
        edges = tuple(self._edge(ref) for ref in refs)
        node = len(self.nodes)
        if in_place:
            record = self.tensors[refs[0].tensor]
            version = max(record["values"]) + 1
            record["values"][version] = np.asarray(value, np.float64)
            record.update(node=node, output_nr=0)
            out = TensorRef(record["id"], version)
        else:
            out = self.tensor(name, value, node=node, is_leaf=False)
        self.nodes.append(
            {
                "id": node,
                "name": f"{op.capitalize()}Backward0",
                "op": op,
                "kind": "operation",
                "formula": formula,
                "place": self.place(expression, nth) if expression else None,
                "sequence_nr": node,
                "operands": tuple(Operand(o, "") if isinstance(o, TensorRef) else Operand(None, o) for o in operands),
                "outputs": (out,),
                "edges": edges,
                "saved": tuple(SavedRecord(n, out if ref is None else ref) for n, ref in saved),
                "variable": None,
                "in_place": in_place,
                "pass_": None,
                "made_by": None,
                "hooks": (),
            }
        )
        self.rules[node] = rules
        return out

    def _edge(self, ref: TensorRef) -> EdgeRecord:
        record = self.tensors[ref.tensor]
        if not record["requires_grad"]:
            return EdgeRecord(None, 0)
        if record["is_leaf"] and record["node"] is None:
            record["node"] = len(self.nodes)
            self.nodes.append(
                {
                    "id": record["node"],
                    "name": "AccumulateGrad",
                    "op": "accumulate",
                    "kind": "accumulate",
                    "formula": "",
                    "place": None,
                    "sequence_nr": None,
                    "operands": (),
                    "outputs": (),
                    "edges": (),
                    "saved": (),
                    "variable": record["id"],
                    "in_place": False,
                    "pass_": None,
                    "made_by": None,
                    "hooks": (),
                }
            )
        return EdgeRecord(record["node"], record["output_nr"])

    def fail(self, ref: TensorRef, error: ErrorRecord) -> None:
        """Make the backward of this tensor's node raise `error`."""
        self.fails[self.tensors[ref.tensor]["node"]] = error

    def backward(self, root: TensorRef, expression: str = "", seed: Any = 1.0) -> Pass:
        """Run one backward pass from the root."""
        start = self.tensors[root.tensor]["node"]
        reached, stack = {start}, [start]
        dependencies: dict[int, int] = {}
        while stack:
            for edge in self.nodes[stack.pop()]["edges"]:
                if edge.node is not None:
                    dependencies[edge.node] = dependencies.get(edge.node, 0) + 1
                    if edge.node not in reached:
                        reached.add(edge.node)
                        stack.append(edge.node)
        waiting = {node: dependencies.get(node, 0) for node in reached}
        buffers: dict[int, Any] = {start: np.asarray(seed, np.float64)}
        ready: list[int] = [start]
        steps: list[BackwardStep] = []
        error: ErrorRecord | None = None
        grads = dict(self.grads)
        while ready and error is None:
            step = self._step(len(steps), ready.pop(0), buffers, waiting, ready)
            steps.append(step)
            error = step.error
        self.passes.append(
            Pass(
                index=len(self.passes),
                kind="backward",
                place=self.place(expression) if expression else None,
                roots=(EdgeRecord(start, 0),),
                root_tensors=(root,),
                seeds=(np.asarray(seed, np.float64),),
                retain_graph=False,
                create_graph=False,
                captures=(),
                tape=len(self.nodes),
                nodes=tuple(sorted(reached)),
                dependencies={node: dependencies.get(node, 0) for node in sorted(reached)},
                ready=(start,),
                grads=grads,
                steps=tuple(steps),
                error=error,
            )
        )
        return self.passes[-1]

    def _step(
        self, index: int, node: int, buffers: dict[int, Any], waiting: dict[int, int], ready: list[int]
    ) -> BackwardStep:
        record, gradient, error = self.nodes[node], buffers.pop(node), self.fails.get(node)
        saved = tuple(self._use(one) for one in record["saved"])
        before = after = None
        terms, deliveries = [], []
        if record["variable"] is not None:
            before = self.grads.get(record["variable"])
            after = gradient if before is None else np.asarray(before + gradient)
            self.grads[record["variable"]] = after
        elif error is None:
            terms = [None if rule is None else np.asarray(rule(gradient)) for rule in self.rules[node]]
            for output, (edge, term) in enumerate(zip(record["edges"], terms, strict=True)):
                if edge.node is None:
                    continue
                old = buffers.get(edge.node)
                total = old if term is None else term if old is None else np.asarray(old + term)
                buffers[edge.node] = total
                waiting[edge.node] -= 1
                deliveries.append(Delivery(output, edge.node, edge.input_nr, term, old, total, waiting[edge.node]))
                if not waiting[edge.node]:
                    ready.append(edge.node)
            ready.sort(key=lambda one: (self.nodes[one]["sequence_nr"] is not None, -one))
        return BackwardStep(
            index=index,
            node=node,
            grad_outputs=(gradient,),
            saved=saved,
            grad_inputs=tuple(terms),
            deliveries=tuple(deliveries),
            grad_before=before,
            grad_after=after,
            freed=bool(saved) and error is None,
            hooks=(),
            made=(),
            error=error,
        )

    def _use(self, saved: SavedRecord) -> SavedUse:
        values = self.tensors[saved.ref.tensor]["values"]
        now = max(values)
        return SavedUse(saved.name, saved.ref, values[now] if now == saved.ref.version else None, now)

    def recording(self, error: ErrorRecord | None = None) -> Recording:
        """The finished recording."""
        return Recording(
            title=self.title,
            nodes=tuple(NodeRecord(**node) for node in self.nodes),
            tensors=tuple(TensorRecord(**tensor) for tensor in self.tensors),
            passes=tuple(self.passes),
            sources={self.title: self.source},
            error=error,
        )


MUL = "z = x · y    ∂z/∂x = y,  ∂z/∂y = x"
ADD = "z = x + y    ∂z/∂x = 1,  ∂z/∂y = 1"

DIAMOND = """\
import microtape as mt

x = mt.tensor(2.0, requires_grad=True)
y = mt.tensor(3.0, requires_grad=True)
z = (x * y) * (x + y)
z.backward()
"""


def _diamond(tape: Tape, x: TensorRef, y: TensorRef) -> TensorRef:
    product = tape.op(
        "mul", MUL, [x, y], 6, [lambda g: g * 3, lambda g: g * 2], expression="x * y", saved=[("x", x), ("y", y)]
    )
    total = tape.op("add", ADD, [x, y], 5, [lambda g: g, lambda g: g], expression="x + y")
    return tape.op(
        "mul",
        MUL,
        [product, total],
        30,
        [lambda g: g * 5, lambda g: g * 6],
        name="z",
        expression="(x * y) * (x + y)",
        saved=[("x", product), ("y", total)],
    )


def diamond() -> Recording:
    """`z = (x * y) * (x + y)` at x = 2, y = 3: z = 30, ∂z/∂x = 21, ∂z/∂y = 16.

    Nodes: 0 x, 1 y, 2 mul (x * y), 3 add (x + y), 4 mul (z). Steps: z, add, mul, y, x.
    """
    tape = Tape("diamond.py", DIAMOND)
    z = _diamond(tape, tape.tensor("x", 2), tape.tensor("y", 3))
    tape.backward(z, "z.backward()")
    return tape.recording()


TWICE = """\
import microtape as mt

x = mt.tensor(2.0, requires_grad=True)
y = mt.tensor(3.0, requires_grad=True)
for _ in range(2):
    z = (x * y) * (x + y)
    z.backward()
"""


def twice() -> Recording:
    """The diamond computed twice from the same leaves: the second pass adds to their `.grad`, finally 42 and 32."""
    tape = Tape("twice.py", TWICE)
    x, y = tape.tensor("x", 2), tape.tensor("y", 3)
    for _ in range(2):
        tape.backward(_diamond(tape, x, y), "z.backward()")
    return tape.recording()


INPLACE = """\
import microtape as mt

x = mt.tensor([0.0, 1.0], requires_grad=True)
e = mt.exp(x)
e.add_(1.0)
loss = e.sum()
loss.backward()
"""


def failing() -> Recording:
    """exp keeps its result, `add_` overwrites it: backward fails at exp, its third step, and x has no gradient.

    Nodes: 0 x, 1 exp, 2 add (in place), 3 sum.
    """
    tape = Tape("inplace.py", INPLACE)
    x = tape.tensor("x", [0, 1])
    e = tape.op(
        "exp", "z = eˣ    ∂z/∂x = z", [x], np.exp([0, 1]), [None], name="e", expression="mt.exp(x)", saved=[("z", None)]
    )
    e = tape.op("add", ADD, [e, "1.0"], np.exp([0, 1]) + 1, [lambda g: g], expression="e.add_(1.0)", in_place=True)
    loss = tape.op(
        "sum", "z = Σx    ∂z/∂x = 1", [e], np.sum(np.exp([0, 1]) + 1), [lambda g: g * np.ones(2)],
        name="loss", expression="e.sum()",
    )  # fmt: skip
    tape.fails[1] = ErrorRecord(
        "RuntimeError",
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [2]], which is output 0 of Add, is at version 1; expected version 0 instead.",
        (("saved", tape.place("mt.exp(x)")), ("modified", tape.place("e.add_(1.0)"))),
        'Traceback (most recent call last):\n  File "inplace.py", line 7, in <module>\n    loss.backward()\n',
    )
    tape.backward(loss, "loss.backward()")
    return tape.recording()


def cut_short() -> Recording:
    """A pass that the recorder lost after its second step, by a fault of its own; the program's pass went on."""
    whole = diamond()
    note = f"{FAULT} pass 1 from step 3 on"
    (one,) = whole.passes
    return replace(
        whole, passes=(one._replace(steps=one.steps[:2], error=ErrorRecord(CUT_SHORT, note, (), "")),), notes=(note,)
    )


def chain(length: int, width: int = 3) -> Recording:
    """A long program: `length` operations on a few live values, some of which are used again much later."""
    source = "h = start\nfor weight in weights:\n    h = h * weight + skip\n"
    tape = Tape("chain.py", source)
    weights = [tape.tensor(f"w{i}", [1.0, 0.5, -1.0]) for i in range(width)]
    live = [weights[0]] * width
    for i in range(length):
        lane = i % width
        left, right = live[lane], live[(i * 7 + 1) % width] if i % 5 == 0 else weights[lane]
        if i % 2:
            out = tape.op("add", ADD, [left, right], [0.1 * i, 1, 2], [lambda g: g, lambda g: g],
                          expression="h * weight + skip")  # fmt: skip
        else:
            out = tape.op("mul", MUL, [left, right], [0.1 * i, 1, 2], [lambda g: g * 0.5, lambda g: g * 0.25],
                          name="h", expression="h * weight", saved=[("x", left), ("y", right)])  # fmt: skip
        live[lane] = out
    while len(live) > 1:
        live.append(tape.op("add", ADD, [live.pop(0), live.pop(0)], [1, 2, 3], [lambda g: g, lambda g: g]))
    loss = tape.op("sum", "z = Σx", [live[0]], 6, [lambda g: g * np.ones(3)], name="loss")
    tape.backward(loss)
    return tape.recording()
