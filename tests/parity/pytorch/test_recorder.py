"""Recorders one around the other, in long loops, and when they fail themselves."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture
def recorder():
    from microtape.recording.pytorch.recorder import TorchRecorder

    return TorchRecorder


def clip(gradient):
    return gradient.clamp(-1, 1)


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
            left.append(watching.values._budget.left)
            optimizer.step()
    assert all(len(watching.tensors.find(one).values) <= 2 for one in model.parameters())
    assert len(set(left)) == 1


def test_a_fault_before_a_pass_leaves_no_hook_behind(torch, recorder, monkeypatch):
    from microtape.recording.pytorch.hooks import UserHooks

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
