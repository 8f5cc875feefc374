"""An engine of one's own writes a recording, and every view shows what that engine did, right or wrong."""

import numpy as np
import pytest

import microtape as mt
from microtape.errors import RecordingError
from microtape.recording import Recording, RecordingWriter
from microtape.recording.comparing.compare import compare
from tui.words.trace import trace


class Engine:
    """A small engine over names. `fault` is what it does wrong."""

    def __init__(self, fault=""):
        self.fault = fault
        self.writer = RecordingWriter("small engine")
        self.values, self.rows, self.grads = {}, [], {}

    def number(self, name, value):
        self.values[name] = value
        self.writer.leaf(name, value)

    def compute(self, result, operation, x, y):
        one, other = self.values[x], self.values[y]
        self.values[result] = one * other if operation == "mul" else one + other
        self.rows.append((result, operation, x, y))
        self.writer.operation(result, operation, (x, y), self.values[result])

    def backward(self, last):
        gradients = {last: 1.0}
        self.writer.begin(last, 1.0)
        for result, operation, x, y in self.rows if self.fault == "order" else reversed(self.rows):
            gradient = gradients.get(result, 0.0)
            self.writer.run(result, gradient)
            slopes = (self.values[y], self.values[x]) if operation == "mul" else (1.0, 1.0)
            for name, slope in zip((x, y), slopes, strict=True):
                before = 0.0 if self.fault == "overwrites" else gradients.get(name, 0.0)
                gradients[name] = before + gradient * slope
                self.writer.deliver(name, gradient * slope, gradients[name])
        for name in self.values.keys() - {row[0] for row in self.rows}:
            self.grads[name] = self.grads.get(name, 0.0) + gradients[name]
            self.writer.keep(name, self.grads[name])


def run(fault="", passes=1):
    engine = Engine(fault)
    engine.number("x", 3.0)
    engine.number("y", 2.0)
    engine.compute("product", "mul", "x", "y")
    engine.compute("z", "add", "product", "x")
    for _ in range(passes):
        engine.backward("z")
    return engine.writer.recording


def ours():
    x = mt.tensor(3.0, requires_grad=True, dtype=mt.float64)
    y = mt.tensor(2.0, requires_grad=True, dtype=mt.float64)
    with mt.record() as recorder:
        product = x * y
        z = product + x
        z.backward()
    return recorder.recording


class TestARightEngine:
    def test_writes_the_graph_and_every_delivery(self):
        recording = run()
        assert [(node.op, recording.label(node.id)) for node in recording.nodes] == [
            ("accumulate", "x"), ("accumulate", "y"), ("mul", "product"), ("add", "z"),
        ]  # fmt: skip
        (one,) = recording.passes
        deliveries = [
            (recording.label(step.node), recording.label(each.node), float(each.total), each.dependencies_left)
            for step in one.steps
            for each in step.deliveries
        ]
        assert deliveries == [("z", "product", 1, 0), ("z", "x", 1, 1), ("product", "x", 3, 0), ("product", "y", 3, 0)]
        assert {recording.label(step.node): float(step.grad_after) for step in one.steps[2:]} == {"x": 3, "y": 3}

    def test_differs_from_ours_in_nothing_but_what_it_is_called(self):
        assert compare(run(), ours()).differences == ()

    def test_backward_again_begins_with_the_grads_of_before(self):
        last = run(passes=2).passes[-1]
        assert {float(value) for value in last.grads.values()} == {3.0}
        kept = [(float(step.grad_before), float(step.grad_after)) for step in last.steps if step.grad_after is not None]
        assert kept == [(3.0, 6.0), (3.0, 6.0)]

    def test_comes_back_from_its_file(self, tmp_path):
        recording = run(passes=2)
        recording.save(tmp_path / "own.tape")
        assert list(trace(Recording.load(tmp_path / "own.tape"))) == list(trace(recording))

    def test_its_operations_have_our_formulas_where_they_have_our_names(self):
        formulas = {node.op: node.formula for node in run().nodes}
        assert formulas["add"].startswith("z = x + y ")
        assert formulas["mul"].startswith("z = x · y ")

    def test_its_lines_are_those_of_the_program_that_uses_it(self, tmp_path, monkeypatch):
        (tmp_path / "engine.py").write_text(
            "class Engine:\n"
            "    def double(self, writer, z, x, value):\n"
            "        writer.operation(z, 'double', (x,), 2 * value)\n"
        )
        file = tmp_path / "program.py"
        file.write_text("\nengine.double(writer, 'z', 'x', 3.0)\nwriter.begin('z')\n")
        names = {"writer": RecordingWriter()}
        names["writer"].leaf("x", 3.0)
        engine = {}
        for path, space in ((tmp_path / "engine.py", engine), (file, names)):
            exec(compile(path.read_text(), str(path), "exec"), space)
            names.setdefault("engine", engine.get("Engine", object)())
        recording = names["writer"].recording
        assert [(node.place.at_name, node.op) for node in recording.nodes if node.place] == [("program.py:2", "double")]
        assert recording.passes[0].place.at_name == "program.py:3"


class TestAWrongEngine:
    def test_that_overwrites_shows_the_delivery_that_loses_a_term(self):
        recording = run("overwrites")
        shown = "\n".join(trace(recording, width=100))
        assert "1 + 2 = 2" in shown
        first = compare(recording, ours()).differences[0]
        assert (first.kind, first.steps, recording.label(first.nodes[0])) == ("sum", (1, 1), "x")

    def test_that_does_not_rewind_shows_the_order_of_its_own(self):
        recording = run("order")
        assert [recording.label(step.node) for step in recording.passes[0].steps[:2]] == ["product", "z"]
        assert compare(recording, ours()).differences


class TestObjectsAsNames:
    def test_are_called_as_the_programs_variables(self):
        class Number:
            pass

        writer = RecordingWriter()
        weight, loss = Number(), Number()
        writer.leaf(weight, np.ones(2))
        writer.operation(loss, "sum", [weight], 2.0)
        writer.begin(loss)
        assert [tensor.name for tensor in writer.recording.tensors] == ["weight", "loss"]

    def test_constants_are_shown_as_they_are(self):
        writer = RecordingWriter()
        writer.leaf("x", 3.0)
        writer.operation("z", "mul", ("x", 2.5), 7.5)
        assert [operand.text for operand in writer.recording.nodes[-1].operands] == ["", "2.5"]


def test_a_leaf_may_keep_its_grad_while_its_row_still_delivers():
    writer = RecordingWriter()
    for name in ("x", "y"):
        writer.leaf(name, 3.0)
    writer.operation("z", "mul", ("x", "y"), 9.0)
    for call, *rest in [("begin", "z"), ("run", "z", 1.0), ("deliver", "x", 3.0, 3.0), ("keep", "x", 3.0),
                        ("deliver", "y", 3.0, 3.0), ("keep", "y", 3.0)]:  # fmt: skip
        getattr(writer, call)(*rest)
    recording = writer.recording
    steps = recording.passes[0].steps
    assert [recording.label(step.node) for step in steps] == ["z", "x", "y"]
    assert [len(step.deliveries) for step in steps] == [2, 0, 0]


class TestMistakesInTheCalls:
    def test_an_object_without_a_name_is_called_by_its_value(self):
        class Number:
            pass

        writer = RecordingWriter()
        numbers = [Number(), Number()]
        for one in numbers:
            writer.leaf(one, 5.0)
        writer.operation("z", "exp", numbers[:1], 1.0)
        writer.begin("z")
        writer.run("z", 1.0)
        with pytest.raises(RecordingError, match="the number 5 is no operand"):
            writer.deliver(numbers[1], 1.0, 1.0)
        with pytest.raises(RecordingError, match="an object of Number is unknown"):
            writer.keep(Number(), 1.0)

    def test_a_name_that_is_not_known(self):
        writer = RecordingWriter()
        with pytest.raises(RecordingError, match="'z' is unknown: it needs a call of `leaf` or `operation` first"):
            writer.begin("z")

    def test_a_delivery_before_backward_has_begun(self):
        writer = RecordingWriter()
        writer.leaf("x", 1.0)
        with pytest.raises(RecordingError, match="no backward is running: call `begin` first"):
            writer.deliver("x", 1.0, 1.0)

    def test_a_delivery_to_a_number_that_is_no_operand(self):
        writer = RecordingWriter()
        for name in ("x", "y"):
            writer.leaf(name, 1.0)
        writer.operation("z", "exp", ["x"], 1.0)
        writer.begin("z")
        writer.run("z", 1.0)
        with pytest.raises(RecordingError, match="'y' is no operand of the row that runs"):
            writer.deliver("y", 1.0, 1.0)
