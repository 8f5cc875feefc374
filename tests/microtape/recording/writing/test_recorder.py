"""What a recording says must be what happened."""

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest

import microtape as mt
from microtape.recording.engines import record, snapshot
from microtape.recording.moments.moment import PassTimeline
from microtape.recording.writing.copies import same_elements
from microtape.recording.writing.recorder import Recorder
from microtape.tape.watch import Watcher, watch


def leaf(data):
    return mt.tensor(data, requires_grad=True)


def diamond():
    x, y = leaf(2.0), leaf(3.0)
    total = x + y
    z = (x * y) * total
    z.backward()
    return x, y


def recorded(function):
    """The recording of a function that records itself, so that its names are found in its own frame."""
    with Recorder() as recorder:
        function()
    return recorder.recording


def names_of(recording):
    return [recording.label(node.id) for node in recording.nodes]


def test_nodes_stand_in_tape_order_each_leaf_before_its_first_use():
    recording = recorded(diamond)
    assert [node.name for node in recording.nodes] == [
        "AccumulateGrad",
        "AccumulateGrad",
        "AddBackward0",
        "MulBackward0",
        "MulBackward0",
    ]
    assert names_of(recording) == ["x", "y", "total", "%3", "z"]
    for node in recording.nodes:
        assert all(edge.node is None or edge.node < node.id for edge in node.edges)


def test_every_operation_knows_its_sub_expression():
    recording = recorded(diamond)
    source = next(iter(recording.sources.values())).splitlines()
    texts = {
        node.op: source[node.place.line - 1][node.place.column : node.place.end_column]
        for node in recording.nodes
        if node.place is not None and node.id != 3
    }
    assert texts == {"add": "x + y", "mul": "(x * y) * total"}


def test_deliveries_add_up_to_what_the_receiver_sees():
    (one,) = recorded(diamond).passes
    sums = {(root.node, root.input_nr): seed for root, seed in zip(one.roots, one.seeds, strict=True)}
    for step in one.steps:
        for input_nr, arrived in enumerate(step.grad_outputs):
            np.testing.assert_array_equal(arrived, sums[step.node, input_nr])
        for delivery in step.deliveries:
            before = sums.get((delivery.node, delivery.input_nr))
            assert (delivery.before is None) == (before is None)
            total = delivery.term if before is None else before + delivery.term
            np.testing.assert_array_equal(delivery.total, total)
            sums[delivery.node, delivery.input_nr] = total


def test_dependencies_count_down_to_ready():
    recording = recorded(diamond)
    (one,) = recording.passes
    left = dict(one.dependencies)
    ready = list(one.ready)
    for step in one.steps:
        assert step.node == ready.pop(0)
        for delivery in step.deliveries:
            left[delivery.node] -= 1
            assert delivery.dependencies_left == left[delivery.node]
        now = PassTimeline(recording).ready(step.index + 1)
        assert set(now) == set(ready) | {d.node for d in step.deliveries if d.dependencies_left == 0}
        ready = list(now)


@pytest.mark.parametrize("inputs", ["leaf", "middle"])
def test_a_node_whose_gradient_was_asked_for_leaves_the_ready_queue_without_running(inputs):
    x, y = (mt.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    middle = x * y
    loss = middle.exp() + middle.sin()
    queues: list[tuple[int, ...]] = []
    with Recorder() as recorder:
        engine_queues(queues, recorder, lambda: mt.autograd.grad(loss, [x if inputs == "leaf" else middle]))
    timeline = PassTimeline(recorder.recording)
    assert [timeline.ready(i) for i in range(len(timeline.steps) + 1)] == queues


def test_ready_queues_are_those_of_the_engine():
    """On wide graphs with several uses of the same leaves, in the order in which they will run."""
    leaves = [mt.tensor(float(i), requires_grad=True) for i in range(1, 5)]
    products = [a * b for a in leaves for b in leaves]
    loss = sum((one.exp() for one in products), mt.tensor(0.0))
    queues: list[tuple[int, ...]] = []
    with Recorder() as recorder:
        engine_queues(queues, recorder, loss.backward)
    timeline = PassTimeline(recorder.recording)
    assert max(map(len, queues)) > 10
    assert [timeline.ready(i) for i in range(len(timeline.steps) + 1)] == queues


def engine_queues(queues, recorder, run):
    """Run with a watcher that writes down the engine's own queue at the beginning and after each step."""

    class Queue(Watcher):
        def task_started(self, task):
            queues.append(tuple(recorder.tape.ids[node] for node in task.ready_nodes()))

        def node_finished(self, task, node, gradients, freed):
            self.task_started(task)

    watcher = Queue()
    watch.join(watcher)
    try:
        run()
    finally:
        watch.leave(watcher)


def test_a_gradient_that_becomes_grad_is_copied_once():
    def negates(leaf):
        leaf.grad.neg_()

    x, y = leaf(np.ones((3, 4))), leaf(np.array([-0.0, np.nan]))
    x.register_post_accumulate_grad_hook(negates)
    with Recorder() as recorder:
        for _ in range(2):
            ((x * 2).sum() + (y * -0.0).sum()).backward()
    recording = recorder.recording
    first, second = ({step.node: step for step in one.steps if step.grad_after is not None} for one in recording.passes)
    hooked, plain = (
        next(i for i in first if recording.tensors[recording.nodes[i].variable].shape == shape)
        for shape in ((3, 4), (2,))
    )
    assert first[plain].grad_after is first[plain].grad_outputs[0]
    assert second[plain].grad_after is not second[plain].grad_outputs[0]
    assert first[hooked].grad_outputs[0][0, 0] == 2
    assert first[hooked].grad_after[0, 0] == -2


@pytest.mark.parametrize(
    ("copy", "now", "same"),
    [
        (np.array([np.nan, 1]), np.array([np.nan, 1]), True),
        (np.array([0.0]), np.array([-0.0]), False),
        (np.eye(3), np.eye(3, order="F"), True),
        (np.ones((2, 3)), np.ones((3, 2)), False),
        (np.ones(2, np.complex128), np.ones(2, np.complex128), True),
        (np.ones(2, np.float32), np.ones(2), False),
        (np.array(True), True, True),
    ],
)
def test_elements_are_compared_to_the_bit(copy, now, same):
    assert same_elements(copy, now) is same


def test_the_engine_runs_the_same_with_and_without_a_recorder():
    x, y = diamond()
    grads = {}

    def run():
        grads["x"], grads["y"] = diamond()

    recorded(run)
    assert (x.grad.item(), y.grad.item()) == (grads["x"].grad.item(), grads["y"].grad.item()) == (21.0, 16.0)


def test_what_is_recorded_stays_when_the_program_goes_on():
    def run():
        x = leaf([1.0, 2.0])
        (x * x).sum().backward()
        first = x.grad
        with mt.no_grad():
            x -= 0.1 * first
        x.grad = None

    recording = recorded(run)
    (one,) = recording.passes
    assert one.steps[-1].grad_after.tolist() == [2.0, 4.0]
    (x,) = [tensor for tensor in recording.tensors if tensor.name == "x"]
    assert x.values[0].tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        x.values[0][0] = 7


def test_a_failed_pass_stops_at_the_node_that_failed_and_names_both_lines():
    def run():
        x = leaf([1.0, 2.0])
        y = x.exp()
        y.add_(1)
        y.sum().backward()

    recording = record(run)
    (one,) = recording.passes
    step = one.steps[-1]
    assert recording.nodes[step.node].name == "ExpBackward0"
    assert step.error == one.error
    assert one.error.type == "ModifiedInPlaceError"
    assert [role for role, _ in one.error.places] == ["saved", "modified"]
    source = recording.sources[one.error.places[0][1].file].splitlines()
    lines = [source[place.line - 1].strip() for _, place in one.error.places]
    assert lines == ["y = x.exp()", "y.add_(1)"]
    (use,) = step.saved
    assert (use.ref.version, use.version_now) == (0, 1)
    assert str(Path(mt.__file__).parent) not in one.error.traceback


def test_an_error_outside_of_backward_is_in_the_recording():
    def run():
        leaf(1.0).exp()
        raise KeyError("mine")

    recording = record(run)
    assert recording.passes == ()
    assert recording.error.type == "KeyError"
    assert [node.op for node in recording.nodes] == ["accumulate", "exp"]


def test_an_in_place_operation_is_a_new_version_of_the_same_tensor():
    def run():
        x = leaf([1.0, 2.0])
        y = x * 2
        y.mul_(3)
        y.sum().backward()

    recording = recorded(run)
    (y,) = [tensor for tensor in recording.tensors if tensor.name == "y"]
    assert {version: value.tolist() for version, value in y.values.items()} == {0: [2.0, 4.0], 1: [6.0, 12.0]}
    write = recording.nodes[2]
    assert write.in_place
    assert (write.operands[0].ref, write.outputs[0]) == ((y.id, 0), (y.id, 1))


def test_writing_into_a_view_is_recorded_as_the_bases_new_history():
    def run():
        x = leaf([[1.0, 2.0], [3.0, 4.0]])
        y = x * 1
        y[0] = y[1] * 5
        y.sum().backward()
        assert x.grad.tolist() == [[0.0, 0.0], [6.0, 6.0]]

    recording = recorded(run)
    assert [node.kind for node in recording.nodes].count("copy_slices") == 1
    (write,) = [node for node in recording.nodes if node.kind == "copy_slices"]
    assert recording.tensors[write.outputs[0].tensor].name == "y"


def test_a_custom_function_shows_what_it_saved():
    class Square(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    def run():
        x = leaf(3.0)
        Square.apply(x).backward()

    recording = recorded(run)
    node = recording.nodes[1]
    assert (node.name, node.kind, [saved.name for saved in node.saved]) == (
        "SquareBackward",
        "function",
        ["x"],
    )
    (use,) = recording.passes[0].steps[0].saved
    assert use.value == 3.0


def test_a_double_backward_records_which_step_made_which_node():
    def run():
        x = leaf(3.0)
        (g,) = mt.autograd.grad(x**3, x, create_graph=True)
        g.backward()
        assert x.grad.item() == 18.0

    recording = recorded(run)
    first, second = recording.passes
    assert (first.kind, second.kind) == ("grad", "backward")
    made = [number for step in first.steps for number in step.made]
    assert made
    for number in made:
        node = recording.nodes[number]
        assert node.pass_ == 0
        assert node.made_by in [step.node for step in first.steps]
    assert set(made) & set(second.nodes)
    assert first.captures[0].value == 27.0


def test_grad_lists_what_was_asked_for():
    def run():
        x, unused = leaf(2.0), leaf(5.0)
        mt.autograd.grad(x * x, (x, unused), allow_unused=True)

    recording = recorded(run)
    (one,) = recording.passes
    assert [(recording.tensors[c.tensor].name, None if c.value is None else c.value.item()) for c in one.captures] == [
        ("x", 4.0),
        ("unused", None),
    ]


def test_names_are_found_in_objects_lists_and_dicts():
    class Model:
        def __init__(self):
            self.weight = leaf(2.0)
            self.layers = [leaf(3.0)]

    def run():
        model = Model()
        table = {"bias": leaf(1.0)}
        (model.weight * model.layers[0] + table["bias"]).backward()

    recording = recorded(run)
    leaves = [recording.tensors[node.variable].name for node in recording.nodes if node.kind == "accumulate"]
    assert leaves == ["model.weight", "model.layers[0]", "table['bias']"]


def leaf_names(recording):
    return [recording.tensors[node.variable].name for node in recording.nodes if node.kind == "accumulate"]


def test_a_list_names_its_tensors_and_not_the_variable_of_a_loop_that_is_over():
    def run():
        weights = [leaf(2.0), leaf(3.0)]
        layers, first = [(leaf(4.0), leaf(5.0))], leaf(6.0)
        h = leaf(1.0)
        for weight in weights:
            h = h * weight
        for w, b in layers:
            h = h * w + b
        for only in (first,):  # the tuple has no name, the tensor has
            h = h * only
        for alone in map(leaf, [7.0]):  # nothing else holds it
            h = h * alone
        h.backward()

    expected = ["weights[0]", "weights[1]", "layers[0][0]", "layers[0][1]", "first", "alone"]
    assert leaf_names(recorded(run))[1:] == expected


def test_the_variable_of_a_loop_that_runs_names_its_tensor():
    def run():
        weight = leaf(2.0)
        batches = [leaf(1.0)]
        for x in batches:
            (weight * x).backward()

    assert leaf_names(recorded(run)) == ["weight", "x"]


def test_a_name_that_was_bound_again_is_taken_from_its_assignment():
    def run():
        h = leaf(1.0)
        for _ in range(2):
            h = h * 2
        h.backward()

    recording = recorded(run)
    assert [recording.label(node.id) for node in recording.nodes if node.op == "mul"] == ["h", "h"]


def test_only_the_last_operation_of_a_call_has_the_name_of_what_it_gives():
    def run():
        scores = mt.tensor([[1.0, 2.0]], requires_grad=True)
        loss = mt.nn.functional.cross_entropy(scores, mt.tensor([1]))
        loss.backward()

    recording = recorded(run)
    assert [(node.op, recording.label(node.id)) for node in recording.nodes[1:]] == [
        ("log_softmax", "%1"),
        ("nll_loss", "loss"),
    ]


def test_hooks_are_recorded_with_what_they_changed():
    def double(gradient):
        return gradient * 2

    def run():
        x = leaf(3.0)
        x.register_hook(double)
        (x * 1).backward()

    recording = recorded(run)
    step = recording.passes[0].steps[-1]
    (call,) = step.hooks
    assert (call.kind, call.before.item(), call.after.item()) == ("tensor", 1.0, 2.0)
    assert call.name.endswith("double")
    assert step.grad_after == 2.0


def test_a_hook_of_a_node_with_two_outputs_is_recorded_with_the_first_gradient():
    def run():
        x = mt.tensor([[2.0, 0.0], [0.0, 3.0]], requires_grad=True)
        values, vectors = mt.linalg.eigh(x)
        values.grad_fn.register_prehook(lambda gradients: gradients)
        (values.sum() * 7 + vectors[0, 0]).backward()

    (call,) = [call for step in recorded(run).passes[0].steps for call in step.hooks]
    assert call.before.tolist() == call.after.tolist() == [7.0, 7.0]


def test_a_backward_inside_of_backward_is_a_pass_of_its_own():
    class Inner(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.detach() ** 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with mt.enable_grad():
                copy = x.detach().requires_grad_()
                (d,) = mt.autograd.grad(copy**2, copy)
            return g * d

    def run():
        x = leaf(3.0)
        Inner.apply(x).backward()
        assert x.grad.item() == 6.0

    recording = recorded(run)
    assert [one.kind for one in recording.passes] == ["backward", "grad"]
    assert len(recording.passes[0].steps) == 2


def test_recordings_can_be_made_inside_of_each_other():
    with Recorder() as outer:
        diamond()
        inner = record(diamond)
        diamond()
    diamond()
    assert len(inner.passes) == 1
    assert len(outer.recording.passes) == 3


def test_equal_programs_give_equal_recordings(tmp_path):
    first, second = recorded(diamond), recorded(diamond)
    assert first.nodes == second.nodes
    for name, one in (("first", first), ("second", second)):
        one.save(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_gradients_leave_in_the_shape_of_what_they_belong_to():
    def run():
        x, bias = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([0.5, 0.5])
        (x + bias).sum().backward()

    step = recorded(run).passes[0].steps[1]
    assert [gradient.shape for gradient in step.grad_inputs] == [(2, 2), (2,)]
    assert step.grad_inputs[1].tolist() == [2.0, 2.0]


def test_a_snapshot_shows_a_graph_without_running_it():
    x = leaf([1.0, 2.0])
    y = (x * x).exp()
    loss = y.sum()
    recording = snapshot(loss)
    assert [node.op for node in recording.nodes] == ["accumulate", "mul", "exp", "sum"]
    assert [recording.label(node.id) for node in recording.nodes] == ["x", "%1", "y", "loss"]
    assert recording.value(recording.nodes[2].outputs[0]).tolist() == y.tolist()
    assert recording.passes == ()


def test_a_snapshot_shows_the_gradients_that_leaves_have():
    x, unused = leaf(2.0), leaf(1.0)
    loss = x * x + unused * 0
    (x * 3).backward()
    tensors = {tensor.name: tensor.grad for tensor in snapshot(loss).tensors}
    assert tensors["x"] == 3.0
    assert tensors["unused"] is None


def test_a_view_names_its_base():
    def run():
        table = leaf([[1.0, 2.0], [3.0, 4.0]])
        row = table[0]
        row.sum().backward()

    tensors = {tensor.name: tensor for tensor in recorded(run).tensors}
    assert tensors["row"].base == tensors["table"].id


def test_a_result_that_backward_unpacks_again_is_the_same_tensor():
    def run():
        x = leaf(0.5)
        y = x.tanh()
        mt.autograd.grad(y, x, create_graph=True)

    recording = recorded(run)
    (slope,) = [node for node in recording.nodes if node.pass_ == 0]
    assert recording.tensors[slope.operands[1].ref.tensor].name == "y"


def test_zeros_that_a_function_is_given_are_recorded():
    class Both(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return 2 * a + 3 * b

    def run():
        x = leaf([1.0, 2.0])
        first, _ = Both.apply(x)
        first.sum().backward()

    step = recorded(run).passes[0].steps[1]
    assert [gradient.tolist() for gradient in step.grad_outputs] == [[1.0, 1.0], [0.0, 0.0]]


def test_a_snapshot_of_a_freed_graph_still_shows_its_nodes():
    x = leaf(2.0)
    loss = (x * x).exp()
    loss.backward()
    recording = snapshot(loss.grad_fn)
    assert [node.op for node in recording.nodes] == ["accumulate", "mul", "exp"]
    assert all(node.saved == () for node in recording.nodes)


def test_the_recorder_lets_go_of_everything():
    def run():
        x = leaf(2.0)
        with Recorder() as recorder:
            loss = x * x
            loss.backward()
        return weakref.ref(loss), recorder.recording

    reference, recording = run()
    gc.collect()
    assert reference() is None
    assert recording.passes


def test_a_recorder_goes_with_its_last_reference():
    def run():
        with record() as recorder:
            diamond()
        return weakref.ref(recorder)

    gc.disable()
    try:
        assert run()() is None
    finally:
        gc.enable()


def borders_of(recording):
    def named(ref):
        return f"{recording.tensors[ref.tensor].name}@{ref.version}"

    return [
        (one.kind, one.op, [named(op.ref) if op.ref else op.text for op in one.operands], [*map(named, one.outputs)])
        for one in recording.borders
    ]


def test_where_history_ends_is_recorded():
    def run():
        w = leaf([1.0, 2.0])
        h = w * w
        target = h.detach()
        with mt.no_grad():
            scale = h * 2
        larger = scale + 1
        mask = h > 1
        with mt.inference_mode():
            aside = h * 3
        ((h - target) * larger * mask.float()).sum().backward()
        return aside

    assert borders_of(recorded(run)) == [
        ("detach", "detach", ["h@0"], ["target@0"]),
        ("no_grad", "mul", ["h@0", "2.0"], ["scale@0"]),
        ("constant", "add", ["scale@0", "1.0"], ["larger@0"]),
        ("not differentiable", "greater", ["h@0", "1.0"], ["mask@0"]),
        ("inference_mode", "mul", ["h@0", "3.0"], ["aside@0"]),
        ("constant", "to", ["mask@0"], ["@0"]),
    ]


def test_a_view_of_inference_mode_requires_grad_and_leads_nowhere():
    x = leaf([1.0, 2.0])
    with mt.record() as recorder:
        with mt.inference_mode():
            view = x.view(-1)
        assert mt.autograd.grad((view * x).sum(), [view, x], allow_unused=True)[0] is None
    assert [one.is_complete for one in recorder.recording.passes] == [True]


def test_a_function_without_a_node_is_a_border_of_what_its_forward_uses():
    class Scaled(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return Doubled.apply(x) * w + shift.argmax()

    class Doubled(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2 * v

    class Failing(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            raise ValueError(w + x)

    w, v, shift = (mt.ones(2, requires_grad=True) for _ in range(3))

    def run():
        data = mt.ones(2)
        with pytest.raises(ValueError, match="tensor"):
            Failing.apply(mt.ones(2))
        h = Scaled.apply(data)
        with mt.no_grad():
            k = Scaled.apply(data)
        m = Scaled.apply(w)  # its backward may care for what it was not given
        (h * k * (m > 0) * w).sum().backward()

    assert borders_of(recorded(run)) == [
        ("not an argument", "Scaled", ["data@0", "v@0", "w@0", "shift@0"], ["h@0"]),
        ("no_grad", "Scaled", ["data@0", "v@0", "w@0", "shift@0"], ["k@0"]),
        ("constant", "mul", ["h@0", "k@0"], ["@0"]),
        ("not differentiable", "greater", ["m@0", "0.0"], ["@0"]),
        ("constant", "mul", ["@0", "@0"], ["@0"]),
    ]


def test_a_write_under_no_grad_is_a_border_between_two_versions():
    def run():
        w = leaf([1.0, 2.0])
        (w * w).sum().backward()
        with mt.no_grad():
            w -= w.grad
        (w * w).sum().backward()

    assert borders_of(recorded(run)) == [("no_grad", "sub", ["w@0", "@0"], ["w@1"])]


def test_detaching_in_place_keeps_the_version():
    def run():
        x, y = leaf(2.0), leaf(3.0)
        h = x * x
        h.detach_()
        (h * y).backward()

    assert borders_of(recorded(run)) == [("detach", "detach_", ["h@0"], ["h@0"])]


@pytest.mark.filterwarnings("ignore:To copy construct:UserWarning", "ignore:Converting a tensor:UserWarning")
def test_a_bare_value_that_comes_back_as_a_tensor_is_a_border():
    def run():
        w = leaf([1.0, 2.0])
        h = (w * w).sum()
        scale = h.item()
        factor = float(h)
        copy = mt.tensor(h)
        several = mt.tensor([scale, h, 3.0])
        with mt.no_grad():
            array = w.numpy()
        shared = mt.from_numpy(array[1:])
        listed = mt.tensor(w.tolist())
        (w * scale + factor * w + copy * scale + several.sum() + shared + listed * array).sum().backward()

    assert borders_of(recorded(run)) == [
        ("copied", "tensor", ["h@0"], ["copy@0"]),
        ("copied", "tensor", ["h@0"], ["several@0"]),
        ("copied", "numpy", ["w@0"], ["shared@0"]),
        ("copied", "tolist", ["w@0"], ["listed@0"]),
        ("copied", "item", ["h@0"], ["scale@0"]),
        ("copied", "float", ["h@0"], ["factor@0"]),
        ("constant", "mul", ["copy@0", "scale@0"], ["@0"]),
        ("constant", "sum", ["several@0"], ["@0"]),
        ("copied", "numpy", ["w@0"], ["array@0"]),
        ("constant", "mul", ["listed@0", "array@0"], ["@0"]),
    ]


def test_recordings_inside_of_each_other_both_see_a_bare_value_come_back():
    def run():
        w = leaf([1.0, 2.0])
        scale = (w * w).sum().item()
        (w * scale).sum().backward()

    with mt.record() as outer:
        inner = recorded(run)
    assert borders_of(inner) == borders_of(outer.recording) == [("copied", "item", ["@0"], ["scale@0"])]


def test_an_equal_number_is_not_taken_for_one_that_left_the_graph():
    def run():
        w = leaf([1.0, 2.0])
        number = (w * w).sum().item()
        whole = mt.tensor(int(w.detach().sum()))
        (w * (number + 0.0) + whole).sum().backward()

    assert recorded(run).borders == ()


def test_what_leaves_no_history_and_leads_nowhere_is_no_border():
    class Double(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + x

        @staticmethod
        def backward(ctx, g):
            return g + g

    def run():
        x = leaf(2.0)
        mt.tensor(3.0) * 4  # of constants
        x.detach() * 2  # nobody keeps it
        Double.apply(x).backward()  # its forward and its backward are not recorded, by design

    assert recorded(run).borders == ()


def test_a_snapshot_says_what_was_freed():
    x = leaf(2.0)
    loss = (x * x).exp()
    assert snapshot(loss).freed == ()
    loss.backward()
    assert snapshot(loss).freed == (1, 2)


def test_constants_are_operands():
    def run():
        x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        total = (x**3).sum(1, keepdim=True) + x.clamp(1, 5).softmax(dim=1)
        row = total.transpose(0, 1)[1:3, 0]
        row.mean().backward()

    operands = {
        node.op: [operand.text for operand in node.operands if operand.ref is None] for node in recorded(run).nodes
    }
    assert operands == {
        "accumulate": [],
        "pow": ["3"],
        "sum": ["dim=1", "keepdim=True"],
        "clamp": ["min=1", "max=5"],
        "softmax": ["dim=1"],
        "add": [],
        "transpose": ["dim0=0", "dim1=1"],
        "slice": ["dim=0", "part=1:3"],
        "select": ["dim=1", "index=0"],
        "mean": [],
    }


def test_a_write_through_a_view_whose_operation_is_freed_is_still_shown():
    y = leaf([1.0, 2.0]) * 2.0
    y[0].mul_(3.0)
    loss = y.sum()
    loss.backward()
    assert [node.op for node in snapshot(loss).nodes] == ["accumulate", "mul", "write into view", "sum"]


def test_what_arrives_at_a_root_includes_all_its_first_gradients():
    x = leaf(3.0)
    y = x * 2.0
    z = y * y
    recording = record(lambda: mt.autograd.backward([y, z, y], [mt.tensor(1.0), mt.tensor(1.0), mt.tensor(10.0)]))
    (one,) = recording.passes
    steps = {step.node: step for step in one.steps}
    delivery = steps[one.roots[1].node].deliveries[-1]
    assert [float(seed) for seed in one.seeds] == [1.0, 1.0, 10.0]
    assert steps[one.roots[0].node].grad_outputs == (11.0 + 2 * 6.0,)
    assert (delivery.before, delivery.term, delivery.total) == (17.0, 6.0, 23.0)
    assert x.grad == 2.0 * 23.0


def test_a_root_that_leads_to_none_of_the_inputs_is_recorded():
    x, y = (mt.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    recording = mt.record(lambda: mt.autograd.backward([x * 2, y], [mt.ones(2), mt.ones(2)], inputs=[x]))
    assert recording.faults == ()
    root = recording.passes[0].roots[1].node
    assert recording.tensors[recording.nodes[root].variable].name == "y"


def test_a_function_that_writes_into_its_gradient_is_shown_before_and_after():
    class Tripled(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad.mul_(3)

    x = mt.tensor([1.0, 2.0], requires_grad=True)
    recording = mt.record(lambda: Tripled.apply(x * 1).backward(mt.ones(2)))
    first, second, _ = recording.passes[0].steps
    assert (first.grad_outputs[0].tolist(), first.grad_inputs[0].tolist()) == ([1, 1], [3, 3])
    assert first.deliveries[0].total.tolist() == second.grad_outputs[0].tolist() == [3, 3]
