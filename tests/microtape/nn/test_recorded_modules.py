"""What a recording has of modules: their calls are scopes, their parameters have their path as a name."""

from __future__ import annotations

import microtape as mt
from microtape import nn
from microtape.recording.model.model import Recording


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        return self.linear(x).tanh()


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.register_buffer("scale", mt.tensor(2.0))

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        for block in self.blocks:
            x = block(x)
        return x * self.scale


def paths(recording: Recording) -> list[tuple[str, str]]:
    """Each operation, with the names of the scopes around it."""
    found = []
    for node in recording.nodes:
        names, scope = [], node.scope
        while scope is not None:
            names.insert(0, recording.scopes[scope].name)
            scope = recording.scopes[scope].outer
        if node.variable is None:
            found.append((node.op, "/".join(names)))
    return found


def leaves(recording: Recording) -> set[str | None]:
    return {recording.tensors[node.variable].name for node in recording.nodes if node.variable is not None}


def test_a_call_is_a_scope_with_the_path_within_the_outermost_module() -> None:
    encoder = Encoder()
    with mt.record() as recorder:
        encoder(mt.ones(1, 2)).sum().backward()
    inside = [(op, f"Encoder/blocks.{number}{end}") for number in (0, 1)
              for op, end in (("t", "/linear"), ("addmm", "/linear"), ("tanh", ""))]  # fmt: skip
    assert paths(recorder.recording) == [*inside, ("mul", "Encoder"), ("sum", "")]


def test_an_argument_that_is_another_module_in_each_call_names_the_one_that_is_called() -> None:
    def both(first: nn.Module, second: nn.Module) -> None:
        second(first(mt.ones(1, 2, requires_grad=True))).sum().backward()

    layers = [nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.Tanh())]
    with mt.record() as recorder:
        both(*layers)
        both(*reversed(layers))
    names = [path.partition("/")[0] for op, path in paths(recorder.recording) if op in ("addmm", "tanh")]
    assert names == ["first", "second", "first", "second"]


def test_a_name_lasts_where_no_variable_has_it() -> None:
    model = nn.Sequential(nn.Tanh())
    kept = {"model": model}

    def again() -> mt.Tensor:
        return kept["model"](mt.ones(1, 2, requires_grad=True))

    with mt.record() as recorder:
        (model(mt.ones(1, 2, requires_grad=True)) + again()).sum().backward()
    assert [path for op, path in paths(recorder.recording) if op == "tanh"] == ["model/0 Tanh"] * 2


def test_a_scope_ends_where_an_exception_leaves_the_module() -> None:
    encoder = Encoder()
    with mt.record() as recorder:
        try:
            encoder(mt.ones(1, 3))
        except RuntimeError:
            (encoder(mt.ones(1, 2)).sum() * 2).backward()
    assert paths(recorder.recording)[-1] == ("mul", "")


def test_parameters_of_the_only_model_have_their_path_as_a_name() -> None:
    encoder = Encoder()
    loss = nn.MSELoss()
    with mt.record() as recorder:
        loss(encoder(mt.ones(1, 2)), mt.zeros(1, 2)).backward()
    names = {f"blocks.{i}.linear.{one}" for i in (0, 1) for one in ("weight", "bias")}
    assert leaves(recorder.recording) == names


def test_with_two_models_the_variable_comes_first() -> None:
    first, second = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2))
    with mt.record() as recorder:
        second(first(mt.ones(1, 2))).sum().backward()
    assert leaves(recorder.recording) == {"first.weight", "first.bias", "second.0.weight", "second.0.bias"}


def test_initial_values_are_no_border() -> None:
    with mt.record() as recorder:
        layer = nn.Linear(2, 2)
        layer(mt.ones(1, 2)).sum().backward()
    assert recorder.recording.borders == ()


def test_a_hook_of_a_module_is_a_call_under_its_own_name() -> None:
    layer = nn.Linear(2, 2)

    def watch(module: nn.Module, grad_input: tuple[mt.Tensor], grad_output: tuple[mt.Tensor]) -> tuple[mt.Tensor]:
        return (grad_input[0] * 2,)

    layer.register_full_backward_hook(watch)
    x = mt.ones(1, 2, requires_grad=True)
    with mt.record() as recorder:
        layer(x).sum().backward()
    (call,) = recorder.recording.calls
    assert (call.name, call.kind) == ("watch", "node post-hook")
    assert x.grad.equal(2 * layer.weight.detach().sum(0, keepdim=True))


def test_each_step_of_a_recurrent_network_is_a_scope() -> None:
    network = nn.GRU(2, 3)
    with mt.record() as recorder:
        network(mt.ones(4, 1, 2))[0].sum().backward()
    assert [one.name for one in recorder.recording.scopes][1:] == ["step"] * 4
