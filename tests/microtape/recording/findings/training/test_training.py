"""Findings about the steps of optimisers: what they say, and where they keep silent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

import microtape as mt
from microtape.recording import record
from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program


def told(
    train: Callable[[Callable[[], mt.Tensor], mt.optim.Optimizer], None], *, lr: float = 0.1, without: str = ""
) -> tuple[Finding, ...]:
    """The findings of five steps of `train` with an optimiser of w and b."""

    def program() -> None:
        x = mt.linspace(-1.0, 1.0, 10)
        w, b = mt.tensor(0.5, requires_grad=True), mt.tensor(0.25, requires_grad=True)
        optimizer = mt.optim.SGD([one for name, one in (("w", w), ("b", b)) if name != without], lr=lr)
        for _ in range(5):
            train(lambda: ((w * x + b - 2 * x - 1) ** 2).mean(), optimizer)

    return findings(record(program))


def usual(loss: Callable[[], mt.Tensor], optimizer: mt.optim.Optimizer) -> None:
    optimizer.zero_grad()
    loss().backward()
    optimizer.step()


def never_reset(loss: Callable[[], mt.Tensor], optimizer: mt.optim.Optimizer) -> None:
    loss().backward()
    optimizer.step()


def reset_too_late(loss: Callable[[], mt.Tensor], optimizer: mt.optim.Optimizer) -> None:
    loss().backward()
    optimizer.zero_grad()
    optimizer.step()


def step_first(loss: Callable[[], mt.Tensor], optimizer: mt.optim.Optimizer) -> None:
    optimizer.zero_grad()
    value = loss()
    optimizer.step()
    value.backward()


def test_a_usual_loop_is_healthy():
    assert told(usual) == ()


def test_a_forgotten_reset_names_the_optimiser():
    (found,) = told(never_reset)
    assert (found.kind, found.severity) == ("accumulated", "error")
    assert found.remedy == "Call optimizer.zero_grad() after each step."


@pytest.mark.parametrize(
    ("train", "lr", "remedy"),
    [
        (reset_too_late, 0.1, "Reset gradients after the step or before backward"),
        (step_first, 0.1, "after value.backward(), and reset gradients before or after both"),
        (usual, 0.0, "Else, lr is 0, or too small"),
    ],
)
def test_steps_that_change_nothing(train: Callable[..., None], lr: float, remedy: str):
    (found,) = told(train, lr=lr)
    assert (found.kind, found.severity) == ("no update", "error")
    assert "optimizer.step()" in found.headline
    assert "changes nothing" in found.headline
    assert remedy in found.remedy
    assert found.place is not None


def test_a_parameter_that_is_not_updated_is_named_with_those_that_are():
    (found,) = told(usual, without="b")
    assert (found.kind, found.severity) == ("accumulated", "notice")
    assert found.headline.startswith("b gets gradients, but ")
    assert found.headline.endswith(" updates only w")
    assert "give it to the optimiser" in found.remedy


def test_several_passes_of_one_step_are_healthy():
    def two_batches(loss: Callable[[], mt.Tensor], optimizer: mt.optim.Optimizer) -> None:
        optimizer.zero_grad()
        loss().backward()
        loss().backward()
        optimizer.step()

    assert told(two_batches) == ()


def test_an_attack_on_a_network_that_has_learned_is_healthy():
    def program() -> None:
        w, change = mt.tensor(0.5, requires_grad=True), mt.zeros(3, requires_grad=True)
        optimizer = mt.optim.SGD([w], lr=0.1)
        for _ in range(5):
            usual(lambda: ((w * mt.arange(3.0) - 1) ** 2).mean(), optimizer)
        for _ in range(3):
            ((w * (mt.arange(3.0) + change) - 1) ** 2).mean().backward()
            with mt.no_grad():
                change += 0.1 * change.grad
            change.grad = None

    assert findings(record(program)) == ()


def test_a_leaf_that_grad_is_asked_about_is_none_that_an_optimiser_forgot():
    def physics() -> None:
        x, w = mt.linspace(0.0, 1.0, 5).requires_grad_(), mt.tensor(0.5, requires_grad=True)
        optimizer = mt.optim.SGD([w], lr=0.1)

        def loss() -> mt.Tensor:
            u = mt.exp(w * x)
            (slope,) = mt.autograd.grad(u.sum(), x, create_graph=True)
            return ((slope + u) ** 2).mean()

        for _ in range(5):
            usual(loss, optimizer)

    assert findings(record(physics)) == ()


def test_rates_that_are_too_large_are_found_when_the_loss_has_doubled():
    (found,) = told(usual, lr=5.0)
    assert found.kind == "large update"


def test_a_first_step_from_next_to_nothing_is_no_large_update():
    def program() -> None:
        w = mt.tensor([0.01, -0.01], requires_grad=True)
        optimizer = mt.optim.Adam([w], lr=0.5)
        for _ in range(10):
            usual(lambda: ((w - mt.tensor([2.0, 3.0])) ** 2).sum(), optimizer)

    assert findings(record(program)) == ()


def with_a_second_optimizer(train_both: bool) -> tuple[Finding, ...]:
    """Steps of an optimiser of tensors that nothing uses, beside one of the leaf, or without it."""

    def program() -> None:
        w, other = mt.tensor([0.5, 2.0], requires_grad=True), mt.tensor([0.5], requires_grad=True)
        strange, right = mt.optim.SGD([other], lr=0.1), mt.optim.SGD([w], lr=0.1)
        del other
        for _ in range(3):
            w.grad = None
            (w * w).sum().backward()
            strange.step()
            if train_both:
                right.step()

    return findings(record(program))


def test_an_optimizer_whose_parameters_no_pass_reaches_is_named():
    (found,) = with_a_second_optimizer(train_both=False)
    assert (found.kind, found.severity) == ("no update", "error")
    assert found.headline.startswith("strange.step() at ")
    assert found.headline.endswith(" updates none of w, which get gradients")
    assert found.explanation == (
        "The parameters of this optimiser are other tensors: no pass reaches them.",
        "w has gradients, and no update.",
    )


def test_an_optimizer_of_an_unused_tensor_is_none_of_our_business_if_another_updates_the_leaves():
    assert with_a_second_optimizer(train_both=True) == ()


def without_step(source: str) -> list[str]:
    """The headlines of a script of three passes with an optimiser `sgd`."""
    recording = record(lambda: [mt.tensor(2.0, requires_grad=True).exp().backward() for _ in range(3)])
    file = recording.passes[0].place.file
    return [one.headline for one in findings(dataclasses.replace(recording, sources={file: source}))]


MADE = "from microtape.optim import SGD\nsgd = SGD([w], lr=0.1)\n"


@pytest.mark.parametrize(
    ("source", "is_told"),
    [
        (MADE + "sgd.zero_grad()", True),
        (MADE + "sgd.zero_grad()\nsgd.step", True),
        (MADE + "model.zero_grad()", True),
        ("sgd = mt.optim.SGD([w], lr=0.1)\nsgd.zero_grad()", True),
        (MADE + "sgd.zero_grad()\nsgd.step()", False),
        (MADE + "sgd.zero_grad()\nscaler.step(sgd)", False),
        (MADE + "sgd.zero_grad()\ntrain(optimizer=sgd)", False),
        (MADE, False),
        ("model.zero_grad()", False),
        ("sgd = make()\nsgd.zero_grad()", False),
        ("sgd = (", False),
        ("sgd = mt" + ".a" * 5_000 + "()\nsgd.zero_grad()", False),
    ],
)
def test_an_optimizer_that_never_steps_is_named_unless_somebody_else_may_call_it(source, is_told):
    told = [one for one in without_step(source) if one.startswith("Nothing is learned")]
    assert ["sgd.step() is never called" in one for one in told] == ([True] if is_told else [])


@pytest.mark.parametrize("container", [list, dict])
def test_layers_in_a_plain_container_are_never_updated(container):
    class Net(mt.nn.Module):
        def __init__(self):
            super().__init__()
            layers = [mt.nn.Linear(2, 2), mt.nn.Linear(2, 2)]
            self.layers = layers if container is list else {"a": layers[0], "b": layers[1]}
            self.head = mt.nn.Linear(2, 1)

        def forward(self, x):
            for layer in self.layers if container is list else self.layers.values():
                x = layer(x)
            return self.head(x)

    def program() -> None:
        model = Net()
        optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(mt.ones(4, 2)).square().sum().backward()
            optimizer.step()

    (found,) = [one for one in findings(record(program)) if one.kind == "accumulated"]
    assert found.severity == "warning"
    assert found.headline.endswith("4 leaves get gradients, but no update: model.layers is a plain list or dict")
    assert Path(__file__).read_text().splitlines()[found.place.line - 1].lstrip().startswith("self.layers = ")
    assert "nn.ModuleList" in found.remedy


def test_a_leaf_that_is_updated_before_its_first_pass_loses_no_gradient() -> None:
    def program() -> None:
        w, v = mt.tensor(0.5, requires_grad=True), mt.tensor(0.25, requires_grad=True)
        later = v * 2
        for i in range(4):
            if i < 2:
                w.exp().backward()
                with mt.no_grad():
                    v.mul_(0.9)
            else:
                (later + v.cos()).backward(retain_graph=True)

    assert "fault" not in [one.kind for one in findings(record(program))]


PART = """\
import microtape as mt


class Part(mt.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = mt.nn.Linear(2, 2), mt.nn.Linear(2, 1)
        self.gain = mt.ones(2, requires_grad=True)

    def forward(self, x):
        return self.head(self.layer(x) * self.gain)


part = Part()
optimizer = mt.optim.SGD({parameters}, lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    part(mt.ones(3, 2)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("parameters", "headline"),
    [
        ("part.parameters()", "part.gain gets gradients, but no update: self.gain is no parameter"),
        ("[*part.head.parameters(), part.gain]", "layer.bias gets gradients, but script.py:19 does not update it"),
    ],
)
def test_a_tensor_of_a_module_is_no_parameter_but_a_layer_has_some(tmp_path, parameters, headline):
    script = tmp_path / "script.py"
    script.write_text(PART.format(parameters=parameters))
    (found,) = findings(record_program(script)[0])
    assert found.headline.endswith(headline)


@pytest.mark.parametrize("most", [2, 3, 6])
@pytest.mark.parametrize("maker_begins", [True, False])
def test_players_that_learn_in_turn_from_one_line_are_healthy(most: int, maker_begins: bool):
    """The gradients of the judge that come with those of the maker are reset, though nothing has used them."""

    def program() -> None:
        maker, judge = mt.tensor([0.5, 0.2], requires_grad=True), mt.tensor([0.3, -0.4], requires_grad=True)
        both = [mt.optim.SGD([maker], lr=0.1), mt.optim.SGD([judge], lr=0.1)]
        order = both if maker_begins else both[::-1]
        for number in range(most):
            optimizer = order[number % 2]
            made = maker if optimizer is both[0] else maker.detach()
            loss = ((made * judge).sum() - (1.0 if optimizer is both[0] else 0.0)) ** 2
            optimizer.zero_grad()
            loss.backward()
            if number < most - 1:
                optimizer.step()

    assert [one for one in findings(record(program)) if one.severity != "notice"] == []


def test_several_batches_that_are_reset_one_by_one_are_found_beside_other_optimisers():
    def program() -> None:
        w, v = mt.tensor([0.5, 0.2], requires_grad=True), mt.tensor([0.3, -0.4], requires_grad=True)
        first, second = mt.optim.SGD([w], lr=0.1), mt.optim.SGD([v], lr=0.1)
        for _ in range(3):
            for batch in mt.tensor([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]]):
                first.zero_grad()
                ((w * batch).sum() - 1).square().backward()
            first.step()
            second.zero_grad()
            (v - 1).square().sum().backward()
            second.step()

    (found,) = findings(record(program))
    assert (found.kind, found.severity) == ("no update", "warning")
    assert "the last of 3 gradients" in found.headline
