"""Recorders one around the other, in long loops, and when they fail themselves."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.parity.pytorch.watching import torch_since


@pytest.fixture
def recorder():
    from microtape.recording.pytorch.recorder import TorchRecorder

    return TorchRecorder


def clip(gradient):
    return gradient.clamp(-1, 1)


def halve(leaf):
    leaf.grad.mul_(0.5)


def test_nested_recorders_record_the_same(torch, recorder):
    from torch import nn

    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    model[0].weight.register_hook(clip)
    with recorder() as alone:
        model(torch.ones(4, 2)).sum().backward()
    model.zero_grad()
    with recorder() as outer, recorder() as inner:
        loss = model(torch.ones(4, 2)).sum()
        loss.grad_fn.register_hook(lambda grad_inputs, grad_outputs: None)
        loss.backward()
    first, second = outer.recording, inner.recording
    assert first.faults == second.faults == ()
    for one in (first, second):
        assert [node.name for node in one.nodes] == [node.name for node in alone.recording.nodes]
        assert [scope.name for scope in one.scopes] == [scope.name for scope in alone.recording.scopes]
        assert {tensor.name for tensor in one.tensors if tensor.is_leaf and tensor.requires_grad} == {
            "model.0.weight", "model.0.bias", "model.2.weight", "model.2.bias",
        }  # fmt: skip
        hooks = [(hook.kind, hook.name.rpartition(".")[2]) for step in one.passes[0].steps for hook in step.hooks]
        assert hooks == [("node post", "<lambda>"), ("tensor", "clip")]
    assert list(model[0].weight._backward_hooks.values()) == [clip]


def test_an_argument_that_is_another_module_in_each_call_names_the_one_that_is_called(torch, recorder):
    from torch import nn

    def both(first, second):
        second(first(torch.ones(4, 2, requires_grad=True))).sum().backward()

    layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
    with recorder() as watching:
        both(*layers)
        both(*reversed(layers))
    assert [scope.name for scope in watching.recording.scopes] == ["first", "second", "first", "second"]


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # Dynamo reads it
@pytest.mark.parametrize(("part", "scopes"), [("model", ["model"]), ("layer", ["model", "0 Linear", "1 Sequential"])])
def test_a_compiled_module_has_the_names_of_the_programs_module(torch, recorder, part, scopes):
    from torch import nn

    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Tanh(), nn.Linear(3, 1)))
    if part == "layer":
        model[1] = torch.compile(model[1], backend="eager")
        compiled = model
    else:
        compiled = torch.compile(model, backend="eager")
    with recorder() as watching:
        compiled(torch.ones(4, 2)).sum().backward()
    leaves = [tensor for tensor in watching.recording.tensors if tensor.is_leaf and tensor.requires_grad]
    names = {"model.0.weight", "model.0.bias", "model.1.1.weight", "model.1.1.bias"}
    assert {leaf.name for leaf in leaves} == names
    if torch_since("2.5"):  # a compiled graph called the modules inside of it before
        assert [scope.name for scope in watching.recording.scopes] == scopes


def test_a_pass_that_is_recorded_is_run_without_compiled_autograd(torch, recorder):
    from torch._dynamo import compiled_autograd

    compiled = []

    def backend(module, inputs):
        compiled.append(module)
        return module

    enable = compiled_autograd._enable if torch_since("2.6") else compiled_autograd.enable
    w = torch.ones(3, requires_grad=True)
    with recorder() as watching, enable(torch.compile(backend=backend)):
        (w * w).sum().backward()
        assert not compiled
        watching.sleep()
        (w * w).sum().backward()
        assert compiled
    (pass_,) = watching.recording.passes
    assert len(pass_.steps) == 3
    assert w.grad.tolist() == [4, 4, 4]


def test_the_values_of_passes_that_are_forgotten_are_forgotten(torch, recorder):
    from torch import nn

    model = nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def forget(index):
        watching.begin_segment()
        del watching.segments[:-1]

    watching = recorder(after_pass=forget)
    left = []
    with watching:
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.randn(64, 64)).pow(2).mean().backward()
            left.append(watching.values.spent)
            optimizer.step()
    assert all(len(watching.tensors.find(one).values) <= 2 for one in model.parameters())
    assert len(set(left)) == 1


@pytest.mark.faults
def test_a_fault_before_a_pass_leaves_no_hook_behind(torch, recorder, monkeypatch):
    from microtape.recording.pytorch.passes.hooks import UserHooks

    a = torch.ones(2, requires_grad=True)
    a.register_hook(clip)
    watched = UserHooks.watch_node

    def failing(self, key, node, handle, **options):
        if key.name == "AccumulateGrad":
            raise MemoryError
        return watched(self, key, node, handle, **options)

    monkeypatch.setattr(UserHooks, "watch_node", failing)
    with recorder() as r:
        y = (a * 3).exp()
        node = y.grad_fn
        y.sum().backward()
    handle = node.register_hook(lambda grad_inputs, grad_outputs: None)
    assert len(handle.hooks_dict_ref()) == 1
    assert list(a._backward_hooks.values()) == [clip]
    assert a.grad.tolist() == [1.0, 1.0]
    assert len(r.recording.faults) == 1


def test_nodes_made_by_backward_know_who_made_them(torch, recorder):
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    with recorder() as r:
        (first,) = torch.autograd.grad((a**3).sum(), a, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), a, create_graph=True)
        second.sum().backward()
    recording = r.recording
    made = [node for node in recording.nodes if node.made_by is not None]
    assert {(one.pass_, recording.nodes[one.made_by].name) for one in made} == {
        (0, "PowBackward0"),
        (1, "PowBackward0"),
    }
    for one in recording.passes:
        for step in one.steps:
            for node in step.made:
                assert (recording.nodes[node].pass_, recording.nodes[node].made_by) == (one.index, step.node)
    assert sum(len(step.made) for one in recording.passes for step in one.steps) == len(made)


def test_nodes_made_by_the_pass_of_an_earlier_segment_know_who_made_them(torch, recorder):
    from microtape.recording.model.growing import GrowingRecording

    a = torch.tensor([1.0, 2.0], requires_grad=True)
    added = GrowingRecording()
    with recorder() as r:
        (first,) = torch.autograd.grad((a**3).sum(), a, create_graph=True)
        r.seal()
        for one in r.additions():
            added.add(one)
        first.sum().backward()
        r.seal()
        for one in r.additions():
            added.add(one)
    for recording in (r.recording, added.recording()):
        made = [node for node in recording.nodes if node.made_by is not None]
        assert made
        for node in made:
            assert (node.pass_, recording.nodes[node.made_by].name) == (0, "PowBackward0")
        (step,) = (one for one in recording.passes[0].steps if one.made)
        assert step.made == tuple(node.id for node in made)


@pytest.mark.parametrize(
    "last", ["b.sum().backward()", "torch.nn.functional.cross_entropy(b[None], torch.tensor([9]))", "missing"]
)
def test_a_failed_script_prints_the_traceback_that_it_prints_by_itself(tmp_path, last):
    (tmp_path / "failing.py").write_text(
        f"import torch\na = torch.ones(2, requires_grad=True)\nb = a.exp()\nb += 1\n{last}\n", encoding="utf-8"
    )
    plain, recorded = (
        subprocess.run([sys.executable, *command, "failing.py"], cwd=tmp_path, capture_output=True, text=True).stderr
        for command in ((), ("-m", "microtape", "record"))
    )
    assert plain.startswith("Traceback")
    assert recorded.startswith(plain)


def test_anomaly_mode_shows_the_lines_of_the_forward_call_that_it_shows_by_itself(tmp_path):
    program = "import torch\na = torch.zeros(2, requires_grad=True)\ntorch.autograd.set_detect_anomaly(True)\n"
    (tmp_path / "nan.py").write_text(f"{program}b = a.sqrt() * a.sqrt()\n(b * 0).sum().backward()\n", encoding="utf-8")
    plain, recorded = (
        subprocess.run([sys.executable, *command, "nan.py"], cwd=tmp_path, capture_output=True, text=True).stderr
        for command in ((), ("-m", "microtape", "record"))
    )
    forward = [one.partition("Traceback of forward call")[2].partition("(Triggered")[0] for one in (plain, recorded)]
    assert "nan.py" in forward[0]
    assert forward[0] == forward[1]


def test_a_function_that_writes_into_its_gradient_is_shown_before_and_after(torch, recorder):
    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad.mul_(3)

    for size in (2, 20_000):  # copied, and summarised
        x = torch.ones(size, requires_grad=True)
        with recorder() as r:
            y = Tripled.apply(x * 1)
            (y * 2 + y.exp() * 0).sum().backward()
        recording = r.recording
        step = next(one for one in recording.passes[0].steps if recording.nodes[one.node].name == "TripledBackward")
        values = step.grad_outputs[0], step.grad_inputs[0], step.deliveries[0].term
        assert [one.max if size > 2 else one.max() for one in values] == [2.0, 6.0, 6.0]


def test_a_hook_after_the_accumulation_does_not_change_what_arrived(torch, recorder):
    for size in (2, 20_000):
        x = torch.ones(size, requires_grad=True)
        x.register_post_accumulate_grad_hook(halve)
        with recorder() as r:
            (x * 2 + x * 4).sum().backward()
        step = r.recording.passes[0].steps[-1]
        arrived, after = (one.max if size > 2 else one.max() for one in (step.grad_outputs[0], step.grad_after))
        assert (arrived, after) == (6.0, 3.0)


def test_a_write_through_a_view_gives_its_base_a_value_and_a_node(torch, recorder):
    x = torch.ones(4, requires_grad=True)
    with recorder() as r:
        y = x * 2
        turned = y.view(2, 2).t()
        y.view(2, 2)[0].mul_(5)
        (turned * 3).sum().backward()
    recording = r.recording
    written = next(one for one in recording.nodes if one.name == "CopySlices")
    assert recording.value(written.outputs[0]).tolist() == [10, 10, 2, 2]
    renewed = next(one for one in recording.nodes if one.name == "AsStridedBackward0")
    assert recording.value(renewed.outputs[0]).tolist() == [[10, 2], [10, 2]]
    assert renewed.edges[0].node == written.id


def test_what_backward_records_has_values_and_no_operands_of_the_call(torch, recorder):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with recorder() as r:
        loss = (x.exp() * x).sum()
        (first,) = torch.autograd.grad(loss, x, create_graph=True)
        first.sum().backward()
    recording = r.recording
    made = [one for one in recording.nodes if one.made_by is not None]
    assert made
    names = {recording.tensors[one.ref.tensor].name for node in made for one in node.operands if one.ref is not None}
    assert "loss" not in names
    assert not any(one.text.startswith("create_graph") for node in made for one in node.operands)
    assert all(recording.value(one.outputs[0]) is not None for one in made if one.name == "MulBackward0")


def test_a_backward_that_fails_is_heard_no_longer(torch, recorder):
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            with torch.enable_grad():
                again = gradient.detach().requires_grad_().exp()
                again.sum().backward()
            raise ValueError("wrong")

    from torch.overrides import _get_current_function_mode_stack

    def ends(gradient):
        stacks.append(list(_get_current_function_mode_stack()))

    x = torch.ones(2, requires_grad=True)
    stacks: list[list[object]] = []
    with recorder() as r:
        y = x * 2
        y.register_hook(ends)
        result = Failing.apply(y * 3) + y
        with pytest.raises(ValueError, match="wrong"):
            result.sum().backward()
        (y * 2).sum().backward()
        before = r.operations.quiet, r.operations.is_quiet
    assert _get_current_function_mode_stack() == []
    assert before == (0, False)
    assert [r.operations in one for one in stacks] == [False]
    lines = [node.place for node in r.recording.nodes if node.name == "ExpBackward0"]
    assert lines
    assert None not in lines
